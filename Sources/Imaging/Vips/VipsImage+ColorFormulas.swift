import CPixels
import CVips
import CVipsShim
import Coordination
import Glibc
import Recipes

/// Operations on whole 8-bit frames; `token` can stop the work, and must outlive the result.
extension VipsImage {
    func changed(by formula: ColorFormula, token: WorkToken) throws(VipsError) -> VipsImage {
        let image = try formula.keepsGray ? self : inColor()
        return try unsafe image.filtered(CPixelsColorFormula(formula), token: token, by: CPixels_apply_formula)
    }

    func equalized(token: WorkToken) throws(VipsError) -> VipsImage {
        try unsafe filtered(Int32(0), token: token, by: CPixels_equalize)
    }

    func noisy(amount: Int, seed: Int, token: WorkToken) throws(VipsError) -> VipsImage {
        try unsafe filtered(
            CPixelsNoise(amount: Int32(amount), seed: UInt32(truncatingIfNeeded: seed)), token: token,
            by: CPixels_add_noise)
    }

    /// Convolves with a kernel; `columns` and the number of rows must be odd.
    func convolved(by factors: [Double], columns: Int, token: WorkToken) throws(VipsError) -> VipsImage {
        var kernel = CPixelsKernel()
        kernel.columns = Int32(columns)
        kernel.rows = Int32(factors.count / columns)
        storeFloats(factors.prefix(Int(CPixels_max_factors)), in: &kernel.factors)
        return try unsafe filtered(kernel, token: token, by: CPixels_convolve)
    }

    typealias Stamp = (pixels: UnsafeRawBufferPointer, size: PixelSize, bands: Int)

    /// - Parameter stamp: Pixels that must outlive the result, because they are not copied; nil uses `fill`.
    @unsafe
    func blended(
        _ mode: BlendMode, opacity: Int, across: CopyPositions, down: CopyPositions, stamp: Stamp?,
        fill: (color: Color, size: PixelSize)?, token: WorkToken
    ) throws(VipsError) -> VipsImage {
        var blend = unsafe CPixelsBlend()
        unsafe blend.mode = Int32(mode.shimMode)
        unsafe (blend.left, blend.top) = (Int32(across.start), Int32(down.start))
        unsafe (blend.across, blend.down) = (Int32(across.count), Int32(down.count))
        unsafe (blend.pitch_x, blend.pitch_y) = (Int32(across.pitch), Int32(down.pitch))
        unsafe blend.opacity = Float(opacity) / 100
        if let stamp = unsafe stamp {
            unsafe blend.stamp = stamp.pixels.assumingMemoryBound(to: UInt8.self).baseAddress
            unsafe (blend.width, blend.height) = (Int32(stamp.size.width), Int32(stamp.size.height))
            unsafe blend.bands = Int32(stamp.bands)
        } else if let fill {
            unsafe (blend.width, blend.height) = (Int32(fill.size.width), Int32(fill.size.height))
            unsafe blend.color = (fill.color.red, fill.color.green, fill.color.blue, fill.color.alpha)
        }
        return try unsafe filtered(blend, token: token, by: CPixels_blend)
    }

    func opaque() throws(VipsError) -> VipsImage { hasAlpha ? try extractedBands(0, count: bands - 1) : self }
}

extension CPixelsColorFormula {
    fileprivate init(_ formula: ColorFormula) {
        self.init()
        switch formula {
        case .scales(let red, let green, let blue): setTables([red, green, blue].flatMap(\.table))
        case .curves(let tables): setTables(tables.prefix(3 * 256))
        case .matrix(let factors):
            kind = Int32(CPixels_formula_matrix)
            store(factors.map { Float($0) / 1_000 }, in: &values)
        case .saturation(let factor):
            kind = Int32(CPixels_formula_saturation)
            store([Float(factor) / 10_000], in: &values)
        case .lab(let lightness, let chroma, let hue):
            kind = Int32(CPixels_formula_lab)
            let angle = Double(hue) / 10_000 * .pi / 180
            let turn = [Float(cos(angle)), Float(sin(angle))]
            store([Float(lightness) / 10_000, Float(chroma) / 10_000] + turn, in: &values)
        }
    }

    private mutating func setTables(_ tables: some Collection<UInt8>) {
        kind = Int32(CPixels_formula_tables)
        store(tables, in: &self.tables)
    }
}

extension BlendMode {
    fileprivate var shimMode: Int {
        switch self {
        case .normal: CPixels_blend_normal
        case .multiply: CPixels_blend_multiply
        case .screen: CPixels_blend_screen
        case .overlay: CPixels_blend_overlay
        case .darken: CPixels_blend_darken
        case .lighten: CPixels_blend_lighten
        case .colorDodge: CPixels_blend_color_dodge
        case .colorBurn: CPixels_blend_color_burn
        case .hardLight: CPixels_blend_hard_light
        case .softLight: CPixels_blend_soft_light
        case .difference: CPixels_blend_difference
        case .exclusion: CPixels_blend_exclusion
        case .add: CPixels_blend_add
        case .mask: CPixels_blend_mask
        case .maskOut: CPixels_blend_mask_out
        }
    }
}
