/// The size of a frame between two steps of a render, and whether it may be transparent.
package struct FrameShape: Hashable, Sendable {
    package var size: PixelSize
    /// Whether the frame may have transparent parts.
    package var hasAlpha: Bool

    /// A frame of this size.
    package init(size: PixelSize, hasAlpha: Bool) {
        self.size = size
        self.hasAlpha = hasAlpha
    }

    /// The frame with sides divided by a whole number and rounded up.
    func reduced(by level: Int) -> FrameShape {
        FrameShape(size: size.reduced(by: level), hasAlpha: hasAlpha)
    }
}

/// How an animation is played, if not as its source is.
package struct FrameTiming: Hashable, Sendable {
    /// Milliseconds for which the frames are shown, one number for each; later frames keep those of the source.
    package var delays: [Int]
    /// How often the animation is played, 0 for ever; nil for as often as the source.
    package var loop: Int?

    /// Longest delay, in milliseconds: the longest that GIF can hold.
    private static let longest = 655_350

    /// A timing of these values, which are brought into their ranges.
    package init(delays: [Int], loop: Int?) {
        self.delays = delays.map { min(max($0, 0), Self.longest) }
        self.loop = loop.map { min(max($0, 0), Int(UInt16.max)) }
    }

    /// The delays of frames that have others in their source.
    func delays(for own: [Int]) -> [Int] { own.indices.map { $0 < delays.count ? delays[$0] : own[$0] } }

    /// The timing's text in the key of a result.
    var keyText: String {
        "delays \(delays.map(String.init).joined(separator: ",")) loop \(loop.map(String.init) ?? "own")"
    }
}
