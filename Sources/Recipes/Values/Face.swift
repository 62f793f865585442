/// A face, in ten-thousandths of the upright image.
package struct Face: Hashable, Sendable {
    package let x: Int
    package let y: Int
    package let width: Int
    package let height: Int
    /// The confidence in ten-thousandths.
    package let confidence: Int

    package static let whole = 10_000
    package static let maximumCount = 32

    package init(x: Int, y: Int, width: Int, height: Int, confidence: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
        self.confidence = confidence
    }

    /// Whether the values are in range; check it for faces from caches and worker processes.
    package var isPlausible: Bool {
        0..<Self.whole ~= x && 0..<Self.whole ~= y && 1...Self.whole - x ~= width && 1...Self.whole - y ~= height
            && 0...Self.whole ~= confidence
    }
}
