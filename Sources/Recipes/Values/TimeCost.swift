/// Estimated core time in nanoseconds, apart from the format table and the steps.
///
/// Measured on a virtual x86-64 core of 2026 with Debian 12's libraries, on random pixels, which cost more than all
/// usual images. Other machines differ by a common factor: the ratios matter (docs/costs.md has the figures).
package enum TimeCost {
    /// The time for each pixel at every level.
    static let passes = 7.0
    static let refinement = 3.0

    /// Per pixel of the reduced image, in addition per pixel stored in passes, and its tables.
    static let cmyk = (pixel: 92.0, passes: 12.0, tables: 40_000_000.0)
    /// The time to decode a pixel of a separate alpha plane.
    static let alphaPlane = 30.0

    /// The cost of each start of a decoder, and of each frame that only later ones need, of any size.
    static let run = 100_000.0

    /// The time to decode a pixel of a frame that is not shown; the cost of the file includes its bytes.
    static let hidden = 15.0

    static let row = 150.0
    static let frame = (decode: 250_000.0, encode: 2_000_000.0)

    /// Per pixel of the result.
    ///
    /// ``GamutStep`` costs the same if all colors lie outside its gamut.
    package static let profile = 65.0

    /// Fits a gain map to the mean light of its image, per pixel of the decoded image.
    static let gains = 15.0

    /// Resamples a gain map, per pixel of the decoded map.
    static let mapRead = 5.0

    /// The time of tone mapping for each pixel of the file.
    static let tones = 25.0

    static let similarity = 3.0

    /// A decode or a render with this cost or more queues separately.
    ///
    /// More than a thumbnail costs, even from a camera's image. It buys 0.4 megapixels in AVIF, 0.7 in GIF, 1.5 in WebP
    /// and JPEG XL, 2 in PNG, and 4 in JPEG.
    package static let expensive = Duration.milliseconds(333)

    static func duration(_ nanoseconds: Double) -> Duration { .nanoseconds(Int64(min(max(nanoseconds, 0), 1e18))) }
}
