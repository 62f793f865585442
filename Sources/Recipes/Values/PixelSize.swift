package struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    package var width: Int
    package var height: Int

    /// libvips' limit for images between two steps.
    static let maximumSide = 10_000_000

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    package var area: Int { width.saturatingProduct(height) }

    /// Throws if all frames together have more than `maximumPixels`.
    func check(frames: Int, maximumPixels: Int) throws(ImagingError) {
        guard width > 0, height > 0 else { throw .cannotDecode(detail: "an image of \(self)") }
        guard max(width, height) <= PixelSize.maximumSide, area <= maximumPixels / frames else {
            throw .tooManyPixels(self, frames: frames)
        }
    }

    package var exchanged: PixelSize { PixelSize(width: height, height: width) }

    package func reduced(by level: Int) -> PixelSize {
        func reduced(_ side: Int) -> Int { side / level + (side % level > 0 ? 1 : 0) }
        return PixelSize(width: reduced(width), height: reduced(height))
    }

    package var description: String { "\(width)×\(height)" }
}

extension Int {
    package func saturatingSum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    package func saturatingProduct(_ other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}

package struct FrameShape: Hashable, Sendable {
    package var size: PixelSize
    package var hasAlpha: Bool

    package init(size: PixelSize, hasAlpha: Bool) {
        self.size = size
        self.hasAlpha = hasAlpha
    }

    func reduced(by level: Int) -> FrameShape { FrameShape(size: size.reduced(by: level), hasAlpha: hasAlpha) }
}

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

package struct ImagePart: Hashable, Sendable {
    package let x: Int
    package let y: Int
    package let size: PixelSize
    package let whole: PixelSize

    package init(x: Int, y: Int, size: PixelSize, of whole: PixelSize) {
        self.x = x
        self.y = y
        self.size = size
        self.whole = whole
    }

    package init(allOf whole: PixelSize) { self.init(x: 0, y: 0, size: whole, of: whole) }

    package var isWhole: Bool { size == whole }

    package func grown(by pixels: Int) -> ImagePart {
        let left = min(x, pixels), top = min(y, pixels)
        let size = PixelSize(
            width: left + min(size.width + pixels, whole.width - x),
            height: top + min(size.height + pixels, whole.height - y))
        return ImagePart(x: x - left, y: y - top, size: size, of: whole)
    }

    package static func span(
        _ start: Int, _ count: Int, of whole: Int, in length: Double
    ) -> (start: Double, length: Double) {
        let whole = Double(whole)
        return (Double(start) * length / whole, Double(count) * length / whole)
    }

    /// The part in whole pixels of an image that was reduced to `decoded`.
    package func rounded(in decoded: PixelSize) -> (x: Int, y: Int, size: PixelSize) {
        func rounded(_ start: Int, _ count: Int, of whole: Int, in length: Int) -> (start: Int, count: Int) {
            let span = Self.span(start, count, of: whole, in: Double(length))
            let first = min(Int(span.start.rounded()), length - 1)
            return (first, max(1, min(Int((span.start + span.length).rounded()), length) - first))
        }
        let across = rounded(x, size.width, of: whole.width, in: decoded.width)
        let down = rounded(y, size.height, of: whole.height, in: decoded.height)
        return (across.start, down.start, PixelSize(width: across.count, height: down.count))
    }
}
