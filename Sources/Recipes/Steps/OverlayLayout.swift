package struct OverlayLayout: Hashable, Sendable {
    package var scaledSize: PixelSize
    package var x: Int
    package var y: Int
    package var coveredSize: PixelSize
    /// The watermark's column at the left edge of the covered area.
    package var firstColumn: Int
    /// The watermark's row at the top edge of the covered area.
    package var firstRow: Int

    /// Returns nil if no pixel of the result is covered.
    ///
    /// - Parameters:
    ///   - scaledSize: The size of the whole watermark on the result.
    ///   - x: The left edge; negative if it is outside the result.
    ///   - isTiled: Whether the watermark repeats to the right and down.
    package init?(scaledSize: PixelSize, x: Int, y: Int, on result: PixelSize, isTiled: Bool = false) {
        let horizontal = Span(scaledSize.width, from: x, isTiled: isTiled, in: result.width)
        let vertical = Span(scaledSize.height, from: y, isTiled: isTiled, in: result.height)
        guard horizontal.count > 0, vertical.count > 0 else { return nil }
        self.scaledSize = scaledSize
        self.x = horizontal.start
        self.y = vertical.start
        coveredSize = PixelSize(width: horizontal.count, height: vertical.count)
        firstColumn = horizontal.phase
        firstRow = vertical.phase
    }

    /// Returns nil if the watermark is outside the result.
    ///
    /// - Parameters:
    ///   - ratio: Device pixels per CSS pixel, in thousandths.
    ///   - sourceSize: The size of the upright source.
    init?(_ options: WatermarkOptions, ratio: Int, sourceSize: PixelSize, result: PixelSize) {
        let scaled = Self.scaledSize(of: sourceSize, scale: options.scale, ratio: ratio, result: result)
        let position = options.isTiled ? .topLeft : options.position
        let corner = result.corner(of: scaled, at: position)
        let x = Self.pixels(options.x, ratio: ratio)
        let y = Self.pixels(options.y, ratio: ratio)
        self.init(
            scaledSize: scaled, x: position.alignment.x == 1_000 ? corner.x - x : corner.x + x,
            y: position.alignment.y == 1_000 ? corner.y - y : corner.y + y, on: result, isTiled: options.isTiled)
    }

    var isWrapped: Bool {
        firstColumn + coveredSize.width > scaledSize.width || firstRow + coveredSize.height > scaledSize.height
    }

    var covering: OverlayLayout {
        var layout = self
        layout.scaledSize = coveredSize
        layout.firstColumn = 0
        layout.firstRow = 0
        return layout
    }

    /// Applies a scale, which keeps the aspect ratio and fits into the result.
    static func scaledSize(of sourceSize: PixelSize, scale: Int?, ratio: Int, result: PixelSize) -> PixelSize {
        guard let scale else {
            return PixelSize(
                width: proportion(sourceSize.width, times: ratio, of: 1_000),
                height: proportion(sourceSize.height, times: ratio, of: 1_000))
        }
        let width = proportion(result.width, times: scale, of: 10_000)
        let height = proportion(sourceSize.height, times: width, of: sourceSize.width)
        guard height > result.height else { return PixelSize(width: width, height: height) }
        return PixelSize(
            width: min(width, proportion(sourceSize.width, times: result.height, of: sourceSize.height)),
            height: result.height)
    }

    private static func pixels(_ value: Int, ratio: Int) -> Int {
        let pixels = (2 * abs(value) * ratio + 1_000) / 2_000
        return value < 0 ? -pixels : pixels
    }

    private struct Span {
        var start: Int
        var count: Int
        var phase: Int

        init(_ length: Int, from origin: Int, isTiled: Bool, in result: Int) {
            start = max(0, origin)
            count = (isTiled ? result : min(result, origin + length)) - start
            phase = (start - origin) % length
        }
    }
}
