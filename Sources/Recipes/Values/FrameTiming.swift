/// The timing of an animation; nil values keep the source's.
package struct FrameTiming: Hashable, Sendable {
    /// Delays of the first frames in milliseconds; later frames keep the source's.
    package var delays: [Int]
    package var loop: Int?

    /// GIF's limit in milliseconds.
    private static let maximumDelay = 655_350

    package init(delays: [Int], loop: Int?) {
        self.delays = delays.map { min(max($0, 0), Self.maximumDelay) }
        self.loop = loop.map { min(max($0, 0), Int(UInt16.max)) }
    }

    package func delays(for sourceDelays: [Int]) -> [Int] {
        sourceDelays.indices.map { $0 < delays.count ? delays[$0] : sourceDelays[$0] }
    }

    var keyText: String {
        "delays \(delays.map(String.init).joined(separator: ",")) loop \(loop.map(String.init) ?? "own")"
    }
}
