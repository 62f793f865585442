import CPixels
import CVips
import CVipsShim
import Coordination
import Recipes

/// Operations on whole 8-bit frames that libvips lacks or that are slower there.
///
/// Transparent pixels add no color. `token` can stop the work, and must outlive the result.
extension VipsImage {
    func colored(by change: ColorChange, token: WorkToken) throws(VipsError) -> VipsImage {
        var colors = CPixelsColors()
        storeFloats(change.table, in: &colors.table)
        storeFloats(change.matrices.flatMap(\.factors), in: &colors.matrices)
        colors.count = Int32(change.matrices.count)
        colors.scale = Float(change.trailing.factor)
        colors.offset = Float(change.trailing.offset)
        return try unsafe filtered(colors, token: token, by: CPixels_color)
    }

    func converted(by conversion: GamutConversion, token: WorkToken) throws(VipsError) -> VipsImage {
        try unsafe filtered(conversion.numbers, token: token, by: CPixels_change_gamut)
    }

    func mapped(by table: [Double], token: WorkToken) throws(VipsError) -> VipsImage {
        var colors = CPixelsColors()
        storeFloats(table, in: &colors.table)
        colors.scale = 1
        return try unsafe filtered(colors, token: token, by: CPixels_color)
    }

    /// Adds the difference from a Gaussian blur: an amount of −1 blurs, 1 sharpens.
    ///
    /// - Parameter sigma: The standard deviation in pixels.
    func gaussianFiltered(sigma: Double, amount: Float, token: WorkToken) throws(VipsError) -> VipsImage {
        try unsafe filtered(CPixelsGaussian(sigma: sigma, amount: amount), token: token, by: CPixels_gaussian)
    }

    func pixelated(side: Int, token: WorkToken) throws(VipsError) -> VipsImage {
        try unsafe filtered(CPixelsMosaic(side: Int32(side)), token: token, by: CPixels_mosaic)
    }

    func cut(to outline: Outline, color: Color, token: WorkToken) throws(VipsError) -> VipsImage {
        let image = try color.isGray ? self : inColor()
        var shape = CPixelsOutline(outline)
        shape.color = (color.red, color.green, color.blue, color.alpha)
        let hasAlpha = image.hasAlpha || color.alpha < 255
        return try unsafe image.filtered(
            shape, bands: (image.bands < 3 ? 1 : 3) + (hasAlpha ? 1 : 0), token: token, by: CPixels_cut)
    }

    /// Rotates clockwise around the center, onto a frame of `size` filled with `corners`.
    func rotated(
        byDegrees degrees: Int, into size: PixelSize, corners: Color, token: WorkToken
    ) throws(VipsError) -> VipsImage {
        let image = try corners.isGray ? self : inColor()
        let hasAlpha = image.hasAlpha || corners.alpha < 255
        let rotation = CPixelsRotation(
            angle: Double(degrees) * .pi / 180, color: (corners.red, corners.green, corners.blue, corners.alpha))
        return try unsafe image.filtered(
            rotation, size: size, bands: (image.bands < 3 ? 1 : 3) + (hasAlpha ? 1 : 0), token: token,
            by: CPixels_rotate)
    }

    func turned(_ turn: QuarterTurn, token: WorkToken) throws(VipsError) -> VipsImage {
        let size = PixelSize(width: width, height: height)
        return try unsafe filtered(
            CPixelsTurn(orientation: Int32(turn.exif)), size: turn.turned(size), token: token, by: CPixels_turn)
    }

    /// - Parameters:
    ///   - size: The size of the result; nil uses this image's.
    ///   - bands: The bands of the result; nil uses this image's.
    ///   - from16Bits: Whether the operation converts 16 bits to 8.
    func filtered<Settings>(
        _ settings: Settings, size: PixelSize? = nil, bands: Int? = nil, from16Bits: Bool = false, token: WorkToken,
        by apply: CPixelsFilter
    ) throws(VipsError) -> VipsImage {
        try unsafe withUnsafeBytes(of: settings) { bytes throws(VipsError) in
            let watch = unsafe CPixelsWatch(token)
            let filter = unsafe CVipsShimFilter(
                apply: apply, settings: bytes.baseAddress, settings_size: bytes.count,
                width: Int32(size?.width ?? width), height: Int32(size?.height ?? height),
                bands: Int32(bands ?? self.bands), takes_words: from16Bits ? 1 : 0, watch: watch)
            return try unsafe step { unsafe CVipsShim_filter($0, $1, filter) }
        }
    }
}
