import Imaging

extension RenderingOptions {
    /// The box in pixels as a placeholder fills it: a missing side equals the given one, 1×1 with neither.
    var placeholderSize: PixelSize {
        guard let side = width ?? height else { return PixelSize(width: 1, height: 1) }
        return PixelSize(width: devicePixels(width ?? side), height: devicePixels(height ?? side))
    }

    /// CSS pixels times the device pixel ratio, rounded half up, never below 1.
    private func devicePixels(_ side: Int) -> Int {
        max(1, (side * devicePixelRatio + 500) / 1_000)
    }
}
