import CPixels
import CVips
import CVipsShim
import Coordination
import Memory
import Recipes

extension VipsImage {
    func convertedFromLab() throws(VipsError) -> VipsImage {
        switch interpretation {
        case VIPS_INTERPRETATION_LAB, VIPS_INTERPRETATION_LABQ, VIPS_INTERPRETATION_LABS:
            try converted(to: VIPS_INTERPRETATION_sRGB)
        default: self
        }
    }

    func in8Bits() throws(VipsError) -> VipsImage {
        guard format == VIPS_FORMAT_USHORT else { return self }
        let standard =
            switch interpretation {
            case VIPS_INTERPRETATION_GREY16: VIPS_INTERPRETATION_B_W
            case VIPS_INTERPRETATION_RGB16: VIPS_INTERPRETATION_sRGB
            default: interpretation
            }
        return try cast(to: VIPS_FORMAT_UCHAR, shift: true).interpreted(as: standard)
    }

    /// Tone-maps PQ or HLG to 8-bit sRGB or Display P3.
    func toneMapped(_ encoding: ColorEncoding, toDisplayP3: Bool, token: WorkToken) throws(VipsError) -> VipsImage {
        let has16Bits = format == VIPS_FORMAT_USHORT
        return try unsafe filtered(
            CPixelsTones(encoding, has16Bits: has16Bits, shownIn: toDisplayP3 ? .displayP3 : .srgb),
            from16Bits: has16Bits, token: token, by: CPixels_map_tones)
    }

    /// Converts colors that cannot be averaged, by the source's profile if it fits; no profile means sRGB or gray.
    ///
    /// The target is sRGB, or Display P3 if `toDisplayP3`. Call it on the reduced image, because the conversion costs
    /// more per pixel than any other step.
    func convertedIfNeeded(
        profileOf source: VipsImage, toDisplayP3: Bool, token: WorkToken
    ) throws(VipsError) -> (image: VipsImage, profile: ColorProfile?) {
        let profile = source.withProfile { profile -> ICCProfile? in self.fitting(profile) } ?? nil
        func inTargetColors(_ image: VipsImage) -> (VipsImage, ColorProfile?) {
            (image, toDisplayP3 && image.bands >= 3 ? .displayP3 : nil)
        }
        if interpretation == VIPS_INTERPRETATION_CMYK {
            // libvips has a built-in CMYK profile.
            if let profile, let converted = try? convertedByProfile(profile.intent, toDisplayP3: toDisplayP3) {
                return inTargetColors(converted)
            }
            return (try converted(to: VIPS_INTERPRETATION_sRGB), nil)
        }
        guard let profile else { return (self, nil) }
        if let colors = profile.colors, !colors.primaries.isEmpty {
            if colors.curves.allSatisfy(\.isNearSRGB) { return (self, colors) }
            guard let conversion = GamutConversion(from: colors, toDisplayP3: toDisplayP3) else {
                return inTargetColors(self)
            }
            return inTargetColors(try converted(by: conversion, token: token))
        }
        guard bands >= 3 else { return (try grayInSRGB(by: profile.colors, intent: profile.intent, token: token), nil) }
        guard let converted = try? convertedByProfile(profile.intent, toDisplayP3: toDisplayP3) else {
            return (self, nil)
        }
        return inTargetColors(converted)
    }

    private func fitting(_ profile: RawSpan) -> ICCProfile? {
        guard profile.byteCount <= ICCProfile.maximumLength else { return nil }
        let profile = ICCProfile(profile)
        return profile.space == space && !profile.isSRGB ? profile : nil
    }

    private var space: ICCProfile.Space {
        interpretation == VIPS_INTERPRETATION_CMYK ? .cmyk : bands < 3 ? .gray : .color
    }

    fileprivate func grayInSRGB(
        by profile: ColorProfile?, intent: ICCProfile.Intent, token: WorkToken
    ) throws(VipsError) -> VipsImage {
        // Little CMS interpolates between 33 samples, which are too few for dark gray.
        if let profile, profile.majorVersion >= 4, !profile.connectsByLab, let curve = profile.curves.first {
            return try mapped(by: curve.lightOfBytes.map { Double(SRGBCurve.component(of: $0)) }, token: token)
        }
        guard let converted = try? convertedByProfile(intent) else { return self }
        return try converted.gray(hasAlpha: hasAlpha)
    }

    private func gray(hasAlpha: Bool) throws(VipsError) -> VipsImage {
        guard bands >= 3 else { return self }
        let gray = try extractedBands(1, count: 1).interpreted(as: VIPS_INTERPRETATION_B_W)
        return hasAlpha ? try gray.joined(with: extractedBands(3, count: 1)) : gray
    }
}

extension DecodedImage {
    /// Converts to sRGB; returns the image unchanged if Little CMS rejects the profile.
    func convertedToSRGB(by profile: ColorProfile, token: WorkToken) throws -> DecodedImage {
        defer { extendLifetime(token) }
        return try VipsError.asEncodeFailure(token: token) {
            try unsafe pixels.withUnsafeBytes { bytes throws in
                let image = try unsafe VipsImage.wrapping(bytes, width: size.width, height: size.height, bands: bands)
                let converted = try image.profiled(profile.file).grayInSRGB(
                    by: profile, intent: .relative, token: token)
                return DecodedImage(pixels: try converted.pixels(token: token), size: size, bands: converted.bands)
            }
        }
    }
}

extension CPixelsTones {
    fileprivate init(_ encoding: ColorEncoding, has16Bits: Bool, shownIn gamut: Chromaticities) {
        self.init()
        is_wide = has16Bits ? 1 : 0
        is_gamma = encoding.transfer == .hlg ? 1 : 0
        // The OOTF assumes a display of 1000 cd/m².
        let light = encoding.transfer == .hlg || encoding.peak == 0 ? 1_000 : encoding.peak
        peak = max(1, Float(light) / Float(CPixels_reference_white))
        storeFloats(encoding.chromaticities.light(in: .rec2020).rows.joined(), in: &to_wide)
        storeFloats(Chromaticities.rec2020.light(in: gamut).rows.joined(), in: &to_standard)
    }
}
