import Memory

/// Everything that decides the pixels and bytes of a result, given the source.
///
/// With the source's identity, the plan is the key of the result cache. Therefore it is normalized: options that lead
/// to the same image make equal plans.
package struct RenderPlan: Hashable, Sendable {
    /// The decode of the source.
    package let decode: DecodePlan
    /// The decodes of the request's additional sources, in their order.
    package var additions: [DecodePlan] = []
    /// A frame of the source, upright and as large as its header says.
    package private(set) var source: FrameShape
    /// The steps of the render, in order.
    package private(set) var steps: RenderSteps
    /// The trim that comes before the steps, which are then those for the untrimmed image; nil for none.
    package internal(set) var border: BorderTrim?
    /// The number of frames of an animation; 1 for a still.
    var frames = 1
    /// How an animation is played, if not as the source is.
    package internal(set) var timing: FrameTiming?
    /// The format of the result.
    package let format: ImageFormat
    /// How the encoder's quality is decided.
    package internal(set) var quality: EncodingQuality
    /// The number of pixels by which a look becomes the encoder's quality: the result's, before a trim.
    private let lookPixels: Int
    /// The meaning of the quality: the encoder's own, unless it is searched for by its look.
    var qualityScale = QualityScale.encoder
    /// The attribution that the result carries; nil for none.
    package internal(set) var attribution: Attribution?
    /// The encoder's effort, in its own scale.
    package let effort: Int
    /// Bits of a component of the result: the format's usual ones, unless it has a choice and others are asked for.
    package internal(set) var bitDepth: Int
    /// The colors of the result, as far as they matter for this source and this format.
    package internal(set) var gamut = Gamut.srgb
    /// Whether the result is the file as the text of a `data:` URL (RFC 2397), and not the file itself.
    package internal(set) var isDataURL = false
    /// Whether frames stand below one another in a still.
    package internal(set) var isStacked = false
    /// Whether the chroma of pixels is made so that edges between colors stay sharp, if the format has a choice.
    ///
    /// Not if they come from resampled planes: their chroma was subsampled before, and a result that is written from
    /// planes has no sharper one; but small results are made of pixels, so that they have.
    var hasSharpChroma = true

    /// Bytes of memory that a plan takes besides its own size, roughly.
    package var heldByteCount: Int {
        let decodes = additions.count * MemoryLayout<DecodePlan>.stride
        // A step's values are no longer than its text by more than this.
        return steps.reduce(decodes + (attribution?.byteCount ?? 0)) { $0 + 256 + 4 * $1.keyText.utf8.count }
    }

    /// A plan of these values, with a fixed quality.
    ///
    /// Steps before the first resample work on the source's own pixels, so only a plan that begins with one may have
    /// the source reduced while it is decoded.
    ///
    /// - Parameter effort: The encoder's effort; nil for the format's usual one.
    package init(
        decode: DecodePlan = DecodePlan(), source: FrameShape, steps: RenderSteps, format: ImageFormat, quality: Int,
        effort: Int? = nil
    ) {
        precondition(decode.level == 1 || steps.first is ResampleStep, "reduced pixels are resampled first")
        (self.decode, hasGainMap) = (decode, decode.keepsGainMap)
        self.source = source
        self.steps = steps
        self.format = format
        self.quality = .fixed(quality)
        self.effort = effort ?? format.effort
        lookPixels = steps.shape(after: source).size.area
        bitDepth = format.bitDepth
    }

    /// A plan that resamples the whole of an opaque image.
    package init(
        decode: DecodePlan = DecodePlan(), resizedSize: PixelSize, light: ResamplingLight = .gamma,
        format: ImageFormat, quality: Int
    ) {
        self.init(
            decode: decode, source: FrameShape(size: resizedSize, hasAlpha: false),
            steps: [ResampleStep(to: resizedSize, in: light)], format: format, quality: quality)
    }

    /// Size of the result, of one frame if animated.
    package var outputSize: PixelSize { steps.shape(after: source).size }

    /// Whether all frames are kept.
    package var isAnimated: Bool { decode.isAnimated }

    /// Pixels for one chroma sample on each side, 1 or 2, at the highest quality that may be chosen.
    var chromaStep: Int { chromaStep(at: quality.highest) }

    /// The same at this quality.
    func chromaStep(at quality: Int) -> Int { hasFullChroma ? 1 : format.chromaStep(at: quality) }

    /// Whether the result gets a gain map, as far as it is known.
    private var hasGainMap: Bool

    /// Whether chroma is not subsampled at any quality: a gain map has one gain for all components, and so cannot mend
    /// what small images with a map would lose.
    private var hasFullChroma: Bool { hasGainMap && outputSize.area <= Self.mostFullChromaPixels }
    static let mostFullChromaPixels = 250_000

    /// Whether an image of many colors gets those of a palette.
    var choosesPalette: Bool { format.hasPaletteQuality && quality.highest < 100 }

    /// How a file of this quality is written.
    func settings(quality: Int) -> EncoderSettings {
        var settings = EncoderSettings(
            quality: encoderQuality(for: quality), effort: effort, bitDepth: bitDepth, isWide: gamut == .p3)
        settings.hasFullChroma = hasFullChroma
        return settings
    }

    /// The encoder's number for a quality of the plan.
    func encoderQuality(for quality: Int) -> Int {
        qualityScale == .look ? format.encoderQuality(for: quality, pixels: lookPixels) : quality
    }

    /// The look that a quality of the plan means.
    package func look(of quality: Int) -> Int {
        qualityScale == .look ? quality : format.look(of: quality, pixels: lookPixels)
    }

    /// A file of the result as it is answered, with the gain map if there is one.
    func finished(_ file: SharedBytes, with gainMap: EncodedGainMap?) -> SharedBytes {
        let profiled = gamut == .p3 ? format.writing?.addProfile?(file, outputSize) ?? file : file
        let attributed = attribution?.written(into: profiled, format: format, size: outputSize) ?? profiled
        return gainMap.flatMap { format.writing?.joinGainMap?(attributed, $0) } ?? attributed
    }

    /// The answer whose image is in this file, with the gain map that is made for it.
    ///
    /// - Throws: The errors of the maker.
    func answer(_ file: SharedBytes, gainMap make: GainMapMaker) throws -> EncodedImage {
        let gainMap = try make(file)
        return EncodedImage(
            bytes: finished(file, with: gainMap), format: format, size: outputSize, hasGainMap: gainMap != nil)
    }

    /// The border in an image of shapes, which is drawn anew when its border is known; nil for other images.
    package var drawnBorder: BorderTrim? { decode.drawnSize == nil ? nil : border }

    /// The plan with the steps for the rest of the image after the trim.
    ///
    /// - Parameter size: The size of the source, if it was drawn anew; nil for the size in which the border was found.
    func trimmed(to steps: RenderSteps, drawn size: PixelSize?) -> RenderPlan {
        var rest = self
        (rest.steps, rest.border) = (steps, nil)
        if let size { rest.source = FrameShape(size: size, hasAlpha: source.hasAlpha) }
        return rest
    }

    /// The plan for the pixels of an image, whose result shows the colors of sRGB, or of Display P3; gray is gray.
    func shown(from image: DecodedImage, in gamut: Gamut) -> RenderPlan {
        var shown = self
        shown.gamut = gamut == .p3 && image.bands >= 3 ? .p3 : .srgb
        shown.hasGainMap = hasGainMap && image.gainMap != nil
        if image.bands >= 3 { shown.steps = steps.shown(from: image.profile, inWide: shown.gamut == .p3) }
        return shown
    }

    /// The plan without its first steps, which are done.
    func afterFirst(_ count: Int) -> RenderPlan {
        var rest = self
        rest.source = steps.prefix(count).reduce(source) { $1.shape(after: $0) }
        rest.steps.removeFirst(count)
        return rest
    }
}

extension RenderPlan {
    /// The plan's texts in the key of a result on disk: everything that decides the pixels and bytes, given the source.
    ///
    /// The texts are spelled out: if they followed the names of types and properties, a renaming would lose every
    /// result on disk. A change that makes other bytes must change a text; no other change may.
    package var keyTexts: [String] {
        [decode.keyText] + steps.map(\.keyText) + [encodingKeyText]
            + (border.map { ["\($0.keyText)\(drawnBorder == nil ? "" : " drawn anew")"] } ?? [])
            + (attribution == nil ? [] : ["copyright"]) + (gamut == .srgb ? [] : ["gamut \(gamut.rawValue)"])
            + additions.map { "addition \($0.keyText)" } + (timing.map { [$0.keyText] } ?? [])
            + (isDataURL ? ["data URL"] : []) + (isStacked && format.supportsAnimation ? ["stacked"] : [])
    }

    /// The steps in words, one each, for people who check their URLs.
    package var words: [String] {
        let pages = decode.isAnimated ? "all frames, at most \(decode.mostFrames)" : "page \(decode.page)"
        let level = decode.level > 1 ? ", reduced to 1/\(decode.level) of each side" : ""
        let drawing = decode.drawnSize.map { ", drawn as \($0) pixels" } ?? ""
        let encoding = (format.hasQuality ? " with \(quality.words)" : "") + gamut.words
        return ["decode \(pages)\(level)\(drawing)"] + (border.map { [$0.words] } ?? []) + steps.map(\.words)
            + ["encode as \(format.rawValue)\(encoding)\(attribution == nil ? "" : ", with copyright and artist")"]
            + (decode.keepsGainMap ? ["add the gain map, after the same steps"] : [])
            + (isDataURL ? ["write the file as a data: URL"] : [])
    }

    private var encodingKeyText: String {
        let version = format.writing?.version ?? 1
        return format.rawValue + (version == 1 ? "" : ".\(version)") + " \(quality.keyText)"
            + (qualityScale == .look ? " look.2" : "") + (effort == format.effort ? "" : " effort \(effort)")
            + (bitDepth == format.bitDepth ? "" : " bits \(bitDepth)") + (decode.keepsGainMap ? " gain map.2" : "")
    }
}

extension DecodePlan {
    fileprivate var keyText: String {
        let frames = isAnimated ? "frames \(mostFrames)" + (page == 0 ? "" : " from \(page)") : "page \(page)"
        let part = drawnPart.map { " at \($0.keyText)" } ?? ""
        let drawing = drawnSize.map { " drawn \($0.width)x\($0.height)\(part)" } ?? ""
        return "\(frames) level \(level) \(incompleteImages.rawValue)\(drawing)"
            + (gamut == .own ? "" : " \(gamut.rawValue)") + (keepsGainMap ? " gain map" : "")
    }
}
