/// The time that decodes and renders take, in nanoseconds of one core.
///
/// This is the part that does not depend on the format; the table of formats and the steps have the rest.
///
/// Measured on a virtual x86-64 core of 2026 with Debian 12's libraries, on random pixels, which cost more than all
/// usual images. Another machine is faster or slower at all of it in the same proportion: the ratios matter
/// (docs/costs.md has the figures).
enum TimePrice {
    /// An image that is stored in passes, for each pixel at every level.
    static let passes = 7.0
    /// The conversion of CMYK: for each pixel of the reduced image, in addition for each pixel that is stored in
    /// passes, and its tables.
    static let cmyk = (pixel: 92.0, passes: 12.0, tables: 40_000_000.0)
    /// An alpha plane to decode besides, for each pixel.
    static let alphaPlane = 30.0

    /// Each start of a decoder, and each frame that only later ones need, however small.
    static let run = 100_000.0

    /// A frame that is decoded and not shown, for each pixel; its bytes are in the price of the file.
    static let hidden = 15.0

    /// Each row of a frame that is decoded, however short.
    static let row = 150.0

    /// The fixed cost of each frame of an animation.
    static let frame = (decode: 250_000.0, encode: 2_000_000.0)

    /// The conversion by an ICC profile, for each pixel of the result.
    ///
    /// That of ``GamutStep``, if all colors lie outside of its gamut.
    static let profile = 65.0

    /// The fitting of a gain map to the mean light of its image, for each pixel of the decoded image.
    static let gains = 15.0

    /// The mapping of tones that are brighter than white, for each pixel of the file.
    static let tones = 25.0

    /// The comparison of two images, for each pixel.
    static let similarity = 3.0

    /// The price from which a decode or a render is dear, and goes to a lane of its own.
    ///
    /// It is more than the price of a thumbnail, even from a camera's image. It buys 0.4 megapixels in AVIF, 0.7 in
    /// GIF, 1.5 in WebP and JPEG XL, 2 in PNG, and 4 in JPEG.
    static let dear = Duration.milliseconds(333)

    /// A sum of nanoseconds as a time; saturates.
    static func duration(_ nanoseconds: Double) -> Duration {
        .nanoseconds(Int64(min(max(nanoseconds, 0), 1e18)))
    }
}
