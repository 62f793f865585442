import Coordination
import Memory
import Recipes

extension BorderTrim {
    func resolved(_ plan: RenderPlan, for image: DecodedImage, token: WorkToken) throws -> RenderPlan {
        try resolved(
            plan, inside: image.box ?? box(in: image, token: token), of: image.size, isDrawnAnew: image.box != nil)
    }

    func box(in image: DecodedImage, token: WorkToken) throws -> ImageRegion {
        try image.interleavedInSRGB(token: token).region(inside: trim, token: token)
    }
}

extension RenderPlan {
    /// Adds the conversions from the colors of the image to a gamut.
    func convertingColors(of image: DecodedImage, to gamut: Gamut) -> RenderPlan {
        let isColored = image.bands >= 3
        let gamut = isColored && gamut == .p3 ? Gamut.p3 : .srgb
        return with(
            gamut: gamut,
            steps: isColored ? steps.convertingColors(from: image.profile, toDisplayP3: gamut == .p3) : steps,
            hasGainMap: image.gainMap != nil)
    }

    /// Adds the profile, the rights and the gain map.
    func addingMetadata(to file: SharedBytes, gainMap: EncodedGainMap?) -> SharedBytes {
        let profiled = gamut == .p3 ? format.encoding?.addProfile?(file, outputSize) ?? file : file
        let attribution = attribution ?? (format.holdsRightsAsEXIF ? rights?.attribution : nil)
        let attributed = attribution.flatMap { format.encoding?.attribute?(profiled, $0.exif, outputSize) } ?? profiled
        if let gainMap, let join = format.encoding?.joinGainMap { return join(attributed, gainMap, rights) }
        return rights.flatMap { format.encoding?.addPacket?(attributed, $0.packet, outputSize) } ?? attributed
    }

    func encodedImage(_ file: SharedBytes, gainMap makeGainMap: GainMapMaker) throws -> EncodedImage {
        let gainMap = try makeGainMap(file)
        return EncodedImage(
            bytes: addingMetadata(to: file, gainMap: gainMap), format: format, size: outputSize,
            hasGainMap: gainMap != nil)
    }
}
