package import Recipes

extension RenderingOptions: BoxRecipe {
    package var hasDefaultQuality: Bool {
        if case .fixed(let format) = format, !format.hasQuality { return false }
        return quality == nil && !isQualityAutomatic && !isLossless
    }

    package mutating func set(_ box: RequestedBox, quality: Int?) {
        self.quality = quality
        set(box)
    }

    package var box: RequestedBox {
        RequestedBox(
            width: width.map { Self.pixels($0, ratio: devicePixelRatio) },
            height: height.map { Self.pixels($0, ratio: devicePixelRatio) })
    }

    /// Sets the box in pixels of the response.
    ///
    /// Lowers the device pixel ratio to the next value at which whole CSS pixels yield these sides.
    mutating func set(_ box: RequestedBox) {
        guard box != self.box else { return }
        func side(_ pixels: Int?, _ ratio: Int) -> Int? { pixels.map { max(1, (1_000 * $0 + ratio / 2) / ratio) } }
        func makes(_ pixels: Int?, _ ratio: Int) -> Bool {
            guard let pixels, let side = side(pixels, ratio) else { return true }
            return side <= Self.longestSide && Self.pixels(side, ratio: ratio) == pixels
        }
        let requested = devicePixelRatio
        let ratio =
            stride(from: requested, through: min(requested, 1_000), by: -1).first {
                makes(box.width, $0) && makes(box.height, $0)
            }
            ?? 1_000
        devicePixelRatio = ratio
        width = side(box.width, ratio)
        height = side(box.height, ratio)
    }

    private static let longestSide = 16_384

    private static func pixels(_ side: Int, ratio: Int) -> Int { max(1, (side * ratio + 500) / 1_000) }
}
