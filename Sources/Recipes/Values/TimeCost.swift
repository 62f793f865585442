/// Estimates of core time in nanoseconds that do not belong to a format or step.
///
/// Measured on a virtual x86-64 core of 2026 with Debian 12's libraries, on random pixels, which cost more than usual
/// images. Other machines differ by a common factor: only the ratios matter (docs/costs.md has the figures).
package enum TimeCost {
    /// Per pixel of a progressive image, at every level.
    static let passes = 7.0
    static let refinement = 3.0

    /// CMYK: per pixel of the reduced image, in addition per pixel of a progressive image, and once for tables.
    static let cmyk = (pixel: 92.0, passes: 12.0, tables: 40_000_000.0)
    /// Per pixel of a separate alpha plane.
    static let alphaPlane = 30.0

    /// Per decoder start, and per frame that only later ones need, independent of the size.
    static let run = 100_000.0

    /// Per pixel of a frame that is not shown; its bytes are counted with the file.
    static let hidden = 15.0

    static let row = 150.0
    static let frame = (decode: 250_000.0, encode: 2_000_000.0)

    /// Color conversion per pixel of the result; ``GamutStep`` costs the same if all colors are out of gamut.
    package static let profile = 65.0

    /// Fitting a gain map to the mean light of its image, per pixel of the decoded image.
    static let gains = 15.0

    /// Resampling a gain map, per pixel of the decoded map.
    static let mapRead = 5.0

    /// Tone mapping, per pixel of the file.
    static let tones = 25.0

    static let similarity = 3.0

    /// Decodes and renders from this cost upward have a separate queue.
    ///
    /// More than a usual thumbnail costs, even from a camera's image: the cost of 0.4 megapixels in AVIF, 0.7 in GIF,
    /// 1.4 in JPEG XL, 2 in WebP and PNG, and 4 in JPEG.
    package static let expensive = Duration.milliseconds(333)

    static func duration(_ nanoseconds: Double) -> Duration { .nanoseconds(Int64(min(max(nanoseconds, 0), 1e18))) }
}
