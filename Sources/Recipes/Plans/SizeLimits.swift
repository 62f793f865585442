/// The maximum area of a result, and the number that its sides must be multiples of.
struct SizeLimits {
    private let area: Int?
    private let multiple: Int?
    /// Upper bounds of the multiples; nil for none.
    private let bounds: (width: Int?, height: Int?)

    /// - Parameters:
    ///   - size: The size without limits.
    ///   - source: The source's size; nil for a vector image, which can be enlarged.
    init(_ options: RenderingOptions, of size: PixelSize, source: PixelSize?) {
        area = options.maximumArea
        multiple = options.multiple
        func bound(_ requested: Int?, side: Int, source: Int?) -> Int? {
            let box =
                options.fit == .outside
                ? nil : requested.map { proportion($0, times: options.devicePixelRatio, of: 1_000) }
            // A canvas may be larger than the source.
            let source = options.enlarge ? nil : source.flatMap { side > $0 ? nil : $0 }
            return [box, source].compactMap(\.self).min()
        }
        bounds = (
            bound(options.width, side: size.width, source: source?.width),
            bound(options.height, side: size.height, source: source?.height)
        )
    }

    func size(for size: PixelSize) -> PixelSize {
        let size = area.map { size.scaled(toArea: $0) } ?? size
        guard let multiple else { return size }
        let widths = multiples(of: multiple, nextTo: size.width, atMost: bounds.width)
        let heights = multiples(of: multiple, nextTo: size.height, atMost: bounds.height)
        func stretch(_ other: PixelSize) -> Double {
            abs(Double(other.width - size.width)) / Double(size.width)
                + abs(Double(other.height - size.height)) / Double(size.height)
        }
        let sizes = widths.flatMap { width in heights.map { PixelSize(width: width, height: $0) } }
        let fitting = sizes.filter { $0.area <= area ?? .max }
        if let best = fitting.min(by: { stretch($0) < stretch($1) }) { return best }
        // Even one multiple is too long.
        var least = PixelSize(width: widths.min() ?? multiple, height: heights.min() ?? multiple)
        let limit = area ?? .max
        if least.width >= least.height {
            least.width = max(1, limit / least.height / multiple) * multiple
        } else {
            least.height = max(1, limit / least.width / multiple) * multiple
        }
        return least
    }

    /// Returns the multiples next to `side` that do not exceed `bound`, or else one multiple.
    private func multiples(of number: Int, nextTo side: Int, atMost bound: Int?) -> [Int] {
        let lower = max(1, side / number) * number
        let upper = max(1, (side + number - 1) / number) * number
        let isUpperNearest = 2 * (side % number) >= number
        let fitting = (isUpperNearest ? [upper, lower] : [lower]).filter { $0 <= bound ?? .max }
        return fitting.isEmpty ? [max(1, (bound ?? side) / number) * number] : fitting
    }
}

extension PixelSize {
    /// Scales the size down to an area, keeping its aspect ratio.
    func scaled(toArea limit: Int) -> PixelSize {
        guard area > limit else { return self }
        var width = max(1, Int((Double(limit) * Double(self.width) / Double(height)).squareRoot()))
        var height = proportion(width, times: self.height, of: self.width)
        if width * height > limit {
            if height > 1, width <= limit { height = max(1, limit / width) } else { width = max(1, limit / height) }
        }
        return PixelSize(width: min(width, limit), height: min(height, limit))
    }
}

extension RenderingOptions {
    var limitsSize: Bool { maximumArea != nil || multiple != nil }

    /// Limits a size by ``maximumArea`` and ``multiple``.
    package func limited(_ size: PixelSize) -> PixelSize {
        limitsSize ? SizeLimits(self, of: size, source: nil).size(for: size) : size
    }
}
