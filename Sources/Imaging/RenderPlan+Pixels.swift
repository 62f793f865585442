import Coordination
import Memory
import Recipes

extension BorderTrim {
    func resolved(_ plan: RenderPlan, for image: DecodedImage, token: WorkToken) throws -> RenderPlan {
        try resolved(
            plan, inside: image.box ?? box(in: image, token: token), of: image.size, isDrawnAnew: image.box != nil)
    }

    func box(in image: DecodedImage, token: WorkToken) throws -> ImagePart {
        try image.interleaved(token: token).part(inside: trim, token: token)
    }
}

extension RenderPlan {
    func shown(from image: DecodedImage, in gamut: Gamut) -> RenderPlan {
        let isColored = image.bands >= 3
        let shown = isColored && gamut == .p3 ? Gamut.p3 : .srgb
        return self.shown(
            in: shown, by: isColored ? steps.shown(from: image.profile, inWide: shown == .p3) : steps,
            hasGainMap: image.gainMap != nil)
    }

    func finished(_ file: SharedBytes, with gainMap: EncodedGainMap?) -> SharedBytes {
        let profiled = gamut == .p3 ? format.encoding?.addProfile?(file, outputSize) ?? file : file
        let attribution = attribution ?? (format.holdsRightsAsEXIF ? rights?.attribution : nil)
        let attributed = attribution.flatMap { format.encoding?.attribute?(profiled, $0.exif, outputSize) } ?? profiled
        if let gainMap, let join = format.encoding?.joinGainMap { return join(attributed, gainMap, rights) }
        return rights.flatMap { format.encoding?.addPacket?(attributed, $0.packet, outputSize) } ?? attributed
    }

    func encodedImage(_ file: SharedBytes, gainMap make: GainMapMaker) throws -> EncodedImage {
        let gainMap = try make(file)
        return EncodedImage(
            bytes: finished(file, with: gainMap), format: format, size: outputSize, hasGainMap: gainMap != nil)
    }
}
