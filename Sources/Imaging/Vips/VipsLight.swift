import CVips
import CVipsShim

extension VipsImage {
    /// Runs a step that mixes neighbouring pixels on the light that the components of this 8-bit picture stand for, so that
    /// transparent ones do not bleed their colour.
    func mixingLight(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
        let interpretation = interpretation
        guard hasAlpha else { return try body(lightened()).darkened().interpreted(as: interpretation) }
        let colors = bands - 1
        let light = try extractedBands(0, count: colors).lightened()
            .joined(with: extractedBands(colors, count: 1).cast(to: VIPS_FORMAT_FLOAT))
            .interpreted(as: interpretation)
        let mixed = try body(light.premultiplied()).unpremultipliedInFloats()
        return try mixed.extractedBands(0, count: colors).darkened()
            .joined(with: mixed.extractedBands(colors, count: 1).rounded())
            .interpreted(as: interpretation)
    }

    /// Light, 0…1, for 8-bit components of sRGB's curve.
    private func lightened() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_lighten($0, $1) }
    }

    /// The reverse of ``lightened()``; what lies outside of 0…1 is clipped.
    private func darkened() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_darken($0, $1) }
    }

    private func unpremultipliedInFloats() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_unpremultiply($0, $1) }
    }

    /// 8 bits of floating-point numbers, rounded and clipped.
    private func rounded() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_round($0, $1) }
    }
}
