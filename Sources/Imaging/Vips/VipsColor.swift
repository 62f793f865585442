import CVips
import CVipsShim
import Memory

extension VipsImage {
    /// Lends the bytes of the ICC profile, if the file had one.
    func withProfile<Result>(_ body: (RawSpan) -> Result) -> Result? {
        unsafe withRaw { raw in
            var count = 0
            guard let bytes = unsafe CVipsShim_blob(raw, VIPS_META_ICC_NAME, &count) else { return nil }
            return unsafe body(UnsafeRawBufferPointer(start: bytes, count: count).bytes)
        }
    }

    /// A copy of the ICC profile, if the file had one.
    var profile: SharedBytes? {
        withProfile { unsafe $0.withUnsafeBytes { unsafe SharedBytes(Array($0)) } }
    }

    /// This image with a copy of an ICC profile.
    func profiled(_ profile: SharedBytes) throws(VipsError) -> VipsImage {
        try unsafe profile.withUnsafeBytes { bytes throws(VipsError) in
            try unsafe step { unsafe CVipsShim_with_profile($0, $1, bytes.baseAddress, bytes.count) }
        }
    }

    /// Converts by the embedded profile to 8 bits of sRGB, or of Display P3; an alpha band is kept.
    func convertedByProfile(
        _ intent: ICCProfile.Intent = .relative, isWide: Bool = false
    ) throws(VipsError) -> VipsImage {
        let intent =
            switch intent {
            case .perceptual: VIPS_INTENT_PERCEPTUAL
            case .relative: VIPS_INTENT_RELATIVE
            case .saturation: VIPS_INTENT_SATURATION
            }
        var image = self
        if let bounded = withProfile({ ICCProfile.withoutChains($0) }) ?? nil { image = try profiled(bounded) }
        return try unsafe image.step { unsafe CVipsShim_to_gamut($0, $1, isWide ? "p3" : "srgb", intent) }
    }

    /// Converts between color spaces by the image's interpretation, without its profile.
    func converted(to space: VipsInterpretation) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_colourspace($0, $1, space) }
    }

    /// The same values with another interpretation.
    func interpreted(as interpretation: VipsInterpretation) throws(VipsError) -> VipsImage {
        if interpretation == self.interpretation { return self }
        return try unsafe step { unsafe CVipsShim_as_interpretation($0, $1, interpretation) }
    }

    /// The same values in another type; `shift` keeps the high bits instead of clipping.
    func cast(to format: VipsBandFormat, shift: Bool = false) throws(VipsError) -> VipsImage {
        if format == self.format { return self }
        return try unsafe step { unsafe CVipsShim_cast($0, $1, format, shift ? 1 : 0) }
    }

    /// Colors multiplied by alpha, in floating point.
    func premultiplied() throws(VipsError) -> VipsImage {
        try applying("premultiply")
    }

    /// The reverse of ``premultiplied()``, in 8 bits.
    func unpremultiplied() throws(VipsError) -> VipsImage {
        try applying("unpremultiply").cast(to: VIPS_FORMAT_UCHAR)
    }

    /// This image of 8 bits with each pixel mixed with the eight around it, by these weights.
    func mixedWithNeighbours(middle: Double, others: Double) throws(VipsError) -> VipsImage {
        func mixed(_ image: VipsImage) throws(VipsError) -> VipsImage {
            try unsafe image.step { unsafe CVipsShim_mix_neighbours($0, $1, middle, others) }
        }
        return hasAlpha ? try mixing(mixed) : try mixed(self).rounded()
    }

    /// Runs an operation that averages neighboring pixels, so that transparent pixels do not add their color.
    func mixing(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return try body(self) }
        let interpretation = interpretation
        return try body(premultiplied()).unpremultiplied().interpreted(as: interpretation)
    }

    /// This image on a background of one color, without its alpha band.
    func flattened(on background: Color) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return self }
        return try unsafe step {
            unsafe CVipsShim_flatten(
                $0, $1, Double(background.red), Double(background.green), Double(background.blue))
        }
    }

    /// This image, with alpha, over a color that may be transparent itself.
    ///
    /// - Parameter isPremultiplied: Whether components are taken and given as multiplied by alpha already.
    func composited(over background: Color, isPremultiplied: Bool = false) throws(VipsError) -> VipsImage {
        let components = [background.red, background.green, background.blue, background.alpha].map(Double.init)
        return try unsafe step { unsafe CVipsShim_composite_over($0, $1, components, isPremultiplied ? 1 : 0) }
    }

    /// This image with an opaque alpha band, if it has none.
    func withAlpha() throws(VipsError) -> VipsImage {
        hasAlpha ? self : try unsafe step { unsafe CVipsShim_add_alpha($0, $1) }
    }

    /// This image as sRGB, if it is gray.
    func inColor() throws(VipsError) -> VipsImage {
        bands < 3 ? try converted(to: VIPS_INTERPRETATION_sRGB) : self
    }

    /// This image on an opaque background, in colors if the background is in color.
    func flattenedInColor(on background: Color) throws(VipsError) -> VipsImage {
        try (background.isGrey ? self : inColor()).flattened(on: background)
    }

    /// Runs an operation on the colors alone; alpha stays as it is.
    func withColors(_ body: (VipsImage) throws(VipsError) -> VipsImage) throws(VipsError) -> VipsImage {
        guard hasAlpha else { return try body(self) }
        let colors = bands - 1
        return try body(extractedBands(0, count: colors)).joined(with: extractedBands(colors, count: 1))
    }

    /// This opaque image in gray, by the luminance of its light.
    func inGrey() throws(VipsError) -> VipsImage {
        bands < 3 ? self : try converted(to: VIPS_INTERPRETATION_B_W)
    }

    /// This opaque image of sRGB with lightness and chroma of CIE LCh times factors, lightness and hue plus summands.
    func scaled(
        lightness: Double, added: Double = 0, chroma: Double = 1, hue: Double = 0
    ) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_scale_lch($0, $1, lightness, added, chroma, hue) }
    }

    /// The lightness of CIELAB, 0…100, that so many per cent of this opaque image's pixels do not exceed.
    func lightness(atPercent percent: Int) throws(VipsError) -> Int {
        try unsafe withRaw { raw throws(VipsError) in
            var lightness: Int32 = 0
            guard unsafe CVipsShim_lightness_percentile(raw, Double(percent), &lightness) == 0 else {
                throw VipsError.last()
            }
            return Int(lightness)
        }
    }

    /// Each pixel replaced by the one at a place among those of a square around it, in their order; alpha stays.
    func ranked(side: Int, place: Int) throws(VipsError) -> VipsImage {
        try withColors { colors throws(VipsError) in
            try unsafe colors.step { unsafe CVipsShim_rank($0, $1, Int32(side), Int32(place)) }
        }
    }

    /// This opaque image of sRGB with its own lightness of CIELAB, and with these a* and b*.
    func tinted(a: Double, b: Double) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_tint($0, $1, a, b) }
    }

    /// This opaque image in gray with each of the 256 grays replaced by a color, whose alpha is ignored.
    func replaced(by colors: [Color]) throws(VipsError) -> VipsImage {
        let table = colors.flatMap { [$0.red, $0.green, $0.blue] }
        return try unsafe step { unsafe CVipsShim_replace($0, $1, table) }
    }

    /// This opaque image of sRGB with its lightness sharpened by libvips' measure.
    func sharpenedLightness(sigma: Double, flat: Double, jagged: Double) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_sharpen_lightness($0, $1, sigma, flat, jagged) }
    }

    /// Some of the bands.
    func extractedBands(_ first: Int, count: Int) throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_extract_bands($0, $1, Int32(first), Int32(count)) }
    }

    /// The bands of this image followed by those of `other`.
    func joined(with other: VipsImage) throws(VipsError) -> VipsImage {
        try unsafe other.withRaw { other throws(VipsError) in
            try unsafe step { unsafe CVipsShim_join_bands($0, other, $1) }
        }
    }
}

extension VipsImage {
    /// Runs an operation that averages neighboring pixels, on linear light, so that transparent pixels do not add
    /// their color.
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
        try applying("unpremultiply")
    }

    /// Floating-point components rounded and clipped to 8 bits.
    fileprivate func rounded() throws(VipsError) -> VipsImage {
        try unsafe step { unsafe CVipsShim_round($0, $1) }
    }
}
