import CVips
import CVipsShim
import Memory
import Recipes

extension VipsImage {
    func withProfile<Result>(_ body: (RawSpan) -> Result) -> Result? {
        unsafe withRaw { raw in
            var count = 0
            guard let bytes = unsafe CVipsShim_blob(raw, VIPS_META_ICC_NAME, &count) else { return nil }
            return unsafe body(UnsafeRawBufferPointer(start: bytes, count: count).bytes)
        }
    }

    var profile: SharedBytes? { withProfile { unsafe $0.withUnsafeBytes { unsafe SharedBytes(Array($0)) } } }

    func profiled(_ profile: SharedBytes) throws(VipsError) -> VipsImage {
        try unsafe profile.withUnsafeBytes { bytes throws(VipsError) in
            try unsafe step { unsafe CVipsShim_with_profile($0, $1, bytes.baseAddress, bytes.count) }
        }
    }

    /// Converts to 8-bit sRGB or Display P3; keeps alpha.
    func convertedByProfile(
        _ intent: ICCProfile.Intent = .relative, toDisplayP3: Bool = false
    ) throws(VipsError) -> VipsImage {
        let intent =
            switch intent {
            case .perceptual: VIPS_INTENT_PERCEPTUAL
            case .relative: VIPS_INTENT_RELATIVE
            case .saturation: VIPS_INTENT_SATURATION
            }
        var image = self
        if let bounded = withProfile({ ICCProfile.withoutChains($0) }) ?? nil { image = try profiled(bounded) }
        return try unsafe image.step { unsafe CVipsShim_to_gamut($0, $1, toDisplayP3 ? "p3" : "srgb", intent) }
    }

    func converted(to space: VipsInterpretation) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_colourspace($0, $1, space) }
    }

    func interpreted(as interpretation: VipsInterpretation) throws(VipsError) -> VipsImage {
        if interpretation == self.interpretation { return self }
        return try unsafe step { unsafe CVipsShim_as_interpretation($0, $1, interpretation) }
    }

    func cast(to format: VipsBandFormat, shift: Bool = false) throws(VipsError) -> VipsImage {
        if format == self.format { return self }
        return try unsafe step { unsafe CVipsShim_cast($0, $1, format, shift ? 1 : 0) }
    }

    func premultiplied() throws(VipsError) -> VipsImage { try applying("premultiply") }

    func unpremultiplied() throws(VipsError) -> VipsImage { try applying("unpremultiply").cast(to: VIPS_FORMAT_UCHAR) }

    /// Mixes each pixel of an 8-bit image with its eight neighbors.
    func mixedWithNeighbors(middle: Double, others: Double) throws(VipsError) -> VipsImage {
        func mixed(_ image: VipsImage) throws(VipsError) -> VipsImage {
            try unsafe image.step { unsafe CVipsShim_mix_neighbors($0, $1, middle, others) }
        }
        return hasAlpha ? try weightedByAlpha(mixed) : try mixed(self).rounded()
    }

    /// Applies an operation to premultiplied colors, so that transparent pixels do not add their color.
    func weightedByAlpha(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return try body(self) }
        let interpretation = interpretation
        return try body(premultiplied()).unpremultiplied().interpreted(as: interpretation)
    }

    func flattened(on background: Color) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return self }
        return try unsafe step {
            unsafe CVipsShim_flatten($0, $1, Double(background.red), Double(background.green), Double(background.blue))
        }
    }

    /// - Parameter isPremultiplied: Whether input and output components are premultiplied.
    func composited(over background: Color, isPremultiplied: Bool = false) throws(VipsError) -> VipsImage {
        let components = [background.red, background.green, background.blue, background.alpha].map(Double.init)
        return try unsafe step { unsafe CVipsShim_composite_over($0, $1, components, isPremultiplied ? 1 : 0) }
    }

    func withAlpha() throws(VipsError) -> VipsImage {
        hasAlpha ? self : try unsafe step { unsafe CVipsShim_add_alpha($0, $1) }
    }

    func inColor() throws(VipsError) -> VipsImage { bands < 3 ? try converted(to: VIPS_INTERPRETATION_sRGB) : self }

    /// Flattens; the result has color if the background has.
    func flattenedInColor(on background: Color) throws(VipsError) -> VipsImage {
        try (background.isGray ? self : inColor()).flattened(on: background)
    }

    /// Applies an operation to the color bands only.
    func keepingAlpha(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return try body(self) }
        let colors = bands - 1
        return try body(extractedBands(0, count: colors)).joined(with: extractedBands(colors, count: 1))
    }

    func inGray() throws(VipsError) -> VipsImage { bands < 3 ? self : try converted(to: VIPS_INTERPRETATION_B_W) }

    /// Changes an opaque sRGB image in CIE LCh, by factors of lightness and chroma and additions to lightness and hue.
    func scaled(
        lightness: Double, added: Double = 0, chroma: Double = 1, hue: Double = 0
    ) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_scale_lch($0, $1, lightness, added, chroma, hue) }
    }

    /// Returns a percentile of an opaque image's CIELAB lightness, 0…100.
    func lightness(atPercent percent: Int) throws(VipsError) -> Int {
        try unsafe withRaw { raw throws(VipsError) in
            var lightness: Int32 = 0
            guard unsafe CVipsShim_lightness_percentile(raw, Double(percent), &lightness) == 0 else {
                throw VipsError.last()
            }
            return Int(lightness)
        }
    }

    /// Replaces each pixel by a rank of the square around it; keeps alpha.
    func ranked(side: Int, index: Int) throws(VipsError) -> VipsImage {
        try keepingAlpha { colors throws(VipsError) in
            try unsafe colors.step { unsafe CVipsShim_rank($0, $1, Int32(side), Int32(index)) }
        }
    }

    func tinted(a: Double, b: Double) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_tint($0, $1, a, b) }
    }

    func replaced(by colors: [Color]) throws(VipsError) -> VipsImage {
        let table = colors.flatMap { [$0.red, $0.green, $0.blue] }
        return try unsafe step { unsafe CVipsShim_replace($0, $1, table) }
    }

    func sharpenedLightness(sigma: Double, flat: Double, jagged: Double) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_sharpen_lightness($0, $1, sigma, flat, jagged) }
    }

    func extractedBands(_ first: Int, count: Int) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_extract_bands($0, $1, Int32(first), Int32(count)) }
    }

    func joined(with other: VipsImage) throws(VipsError) -> VipsImage {
        try unsafe other.withRaw { other throws(VipsError) in
            try unsafe step { unsafe CVipsShim_join_bands($0, other, $1) }
        }
    }
}

extension VipsImage {
    /// Applies an operation to an 8-bit image in linear light, weighted by alpha.
    func inLinearLight(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
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

    private func linearized() throws(VipsError) -> VipsImage { try unsafe step { unsafe CVipsShim_linearize($0, $1) } }

    private func delinearized() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_delinearize($0, $1) }
    }

    private func unpremultipliedInFloats() throws(VipsError) -> VipsImage { try applying("unpremultiply") }

    fileprivate func rounded() throws(VipsError) -> VipsImage { try unsafe step { unsafe CVipsShim_round($0, $1) } }
}
