import CVips
import CVipsShim

extension VipsImage {
    /// Runs an operation that averages neighbouring pixels, on linear light, so that transparent pixels do not add their colour.
    ///
    /// The image has 8 bits.
    func mixingLight(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
        let interpretation = interpretation
        guard hasAlpha else { return try body(linearized()).delinearized().interpreted(as: interpretation) }
        let colors = bands - 1
        let light = try extractedBands(0, count: colors).linearized()
            .joined(with: extractedBands(colors, count: 1).cast(to: VIPS_FORMAT_FLOAT))
            .interpreted(as: interpretation)
        let mixed = try body(light.premultiplied()).unpremultipliedInFloats()
        return try mixed.extractedBands(0, count: colors).delinearized()
            .joined(with: mixed.extractedBands(colors, count: 1).rounded())
            .interpreted(as: interpretation)
    }

    /// Light, 0…1, for 8-bit components of sRGB's curve.
    private func linearized() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_linearize($0, $1) }
    }

    /// The reverse of ``linearized()``; values outside of 0…1 are clipped.
    private func delinearized() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_delinearize($0, $1) }
    }

    private func unpremultipliedInFloats() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_unpremultiply($0, $1) }
    }

    /// Floating-point components rounded and clipped to 8 bits.
    private func rounded() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_round($0, $1) }
    }
}
