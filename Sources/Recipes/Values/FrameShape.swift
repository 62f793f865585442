/// Between two steps of a render.
package struct FrameShape: Hashable, Sendable {
    package var size: PixelSize
    package var hasAlpha: Bool

    package init(size: PixelSize, hasAlpha: Bool) {
        self.size = size
        self.hasAlpha = hasAlpha
    }

    func reduced(by level: Int) -> FrameShape {
        FrameShape(size: size.reduced(by: level), hasAlpha: hasAlpha)
    }
}

/// Nil fields are the source's.
package struct FrameTiming: Hashable, Sendable {
    /// In milliseconds; later frames keep the source's delays.
    package var delays: [Int]
    package var loop: Int?

    /// In milliseconds, GIF's limit.
    private static let longest = 655_350

    package init(delays: [Int], loop: Int?) {
        self.delays = delays.map { min(max($0, 0), Self.longest) }
        self.loop = loop.map { min(max($0, 0), Int(UInt16.max)) }
    }

    package func delays(for own: [Int]) -> [Int] { own.indices.map { $0 < delays.count ? delays[$0] : own[$0] } }

    var keyText: String {
        "delays \(delays.map(String.init).joined(separator: ",")) loop \(loop.map(String.init) ?? "own")"
    }
}
