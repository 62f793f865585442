/// Everything besides the source that determines the pixels and bytes of a result.
///
/// It is part of the result cache's key, and normalized: options with the same result have equal plans.
package struct RenderPlan: Hashable, Sendable {
    package let decode: DecodePlan
    package var additions: [DecodePlan] = []
    /// A frame of the decoded source, upright.
    package private(set) var source: FrameShape
    package private(set) var steps: RenderSteps
    package internal(set) var border: BorderTrim?
    var frames = 1
    package internal(set) var timing: FrameTiming?
    package let format: ImageFormat
    package internal(set) var quality: EncodingQuality
    /// The pixels of the untrimmed result, used to convert visual quality to encoder quality.
    private let qualityPixels: Int
    /// The encoder's scale, unless a search uses visual quality.
    var qualityScale = QualityScale.encoder
    package internal(set) var attribution: Attribution?
    package internal(set) var rights: SourceRights?
    package let effort: Int
    /// The requested depth if the format supports it, otherwise its default.
    package internal(set) var bitDepth: Int
    package internal(set) var gamut = Gamut.srgb
    /// True for a lossless result of a format with both modes.
    package internal(set) var isLossless = false
    /// Whether the result is the text of a `data:` URL (RFC 2397).
    package internal(set) var isDataURL = false
    package internal(set) var isStacked = false
    /// Whether to keep edges between colors sharp, if the format supports it; false for pixels that were planes.
    package var hasSharpChroma = true
    private var hasGainMap: Bool

    static let maximumFullChromaPixels = 250_000

    package var memoryByteCount: Int {
        let decodes = additions.count * MemoryLayout<DecodePlan>.stride
        // The bytes of a step exceed its key text by at most this.
        return steps.reduce(decodes + (attribution?.byteCount ?? 0) + (rights?.byteCount ?? 0)) {
            $0 + 256 + 4 * $1.keyText.utf8.count
        }
    }

    /// Creates a plan with a fixed quality.
    ///
    /// Steps before the first resample use the source's pixels, so only a plan that begins with a resample may have a
    /// decode level above 1.
    package init(
        decode: DecodePlan = DecodePlan(), source: FrameShape, steps: RenderSteps, format: ImageFormat, quality: Int,
        effort: Int? = nil
    ) {
        precondition(decode.level == 1 || steps.first is ResampleStep, "reduced pixels are resampled first")
        self.decode = decode
        hasGainMap = decode.keepsGainMap
        self.source = source
        self.steps = steps
        self.format = format
        self.quality = .fixed(quality)
        self.effort = effort ?? format.effort
        qualityPixels = steps.shape(after: source).size.area
        bitDepth = format.bitDepth
    }

    package init(
        decode: DecodePlan = DecodePlan(), resizedSize: PixelSize, light: ResamplingLight = .gamma,
        format: ImageFormat, quality: Int
    ) {
        self.init(
            decode: decode, source: FrameShape(size: resizedSize, hasAlpha: false),
            steps: [ResampleStep(to: resizedSize, in: light)], format: format, quality: quality)
    }

    package var outputSize: PixelSize { steps.shape(after: source).size }

    package var isAnimated: Bool { decode.isAnimated }

    /// The chroma step at the highest quality that a search may choose.
    package var chromaStep: Int { chromaStep(at: quality.highest) }

    package func chromaStep(at quality: Int) -> Int { hasFullChroma ? 1 : format.chromaStep(at: quality) }

    /// Small images with a gain map keep full chroma: a gain for all components cannot restore lost color.
    private var hasFullChroma: Bool { hasGainMap && outputSize.area <= Self.maximumFullChromaPixels }

    var choosesPalette: Bool { format.hasPaletteQuality && quality.highest < 100 }

    package func settings(quality: Int) -> EncoderSettings {
        var settings = EncoderSettings(
            quality: encoderQuality(for: quality), effort: effort, bitDepth: bitDepth, isDisplayP3: gamut == .p3)
        settings.hasFullChroma = hasFullChroma
        settings.isLossless = isLossless
        settings.visualQuality = visualQuality(of: quality)
        return settings
    }

    func encoderQuality(for quality: Int) -> Int {
        qualityScale == .visual ? format.encoderQuality(for: quality, pixels: qualityPixels) : quality
    }

    /// Returns the visual quality of an encoder quality; the lowest if there are several.
    package func visualQuality(of quality: Int) -> Int {
        qualityScale == .visual ? quality : format.visualQuality(of: quality, pixels: qualityPixels)
    }

    /// The border of a vector image, which is drawn again without it; nil for other images.
    package var drawnBorder: BorderTrim? { decode.drawnSize == nil ? nil : border }

    package var needsFaces: Bool { steps.needFaces }

    /// Returns the plan for a source with these faces, largest first.
    package func resolvingFaces(_ faces: [Face]) -> RenderPlan {
        guard needsFaces else { return self }
        var plan = self
        plan.steps = steps.resolvingFaces(faces, on: source)
        return plan
    }

    /// - Parameter size: The size of a source that was drawn again; nil if it was not.
    func trimmed(to steps: RenderSteps, drawn size: PixelSize?) -> RenderPlan {
        var plan = self
        plan.steps = steps
        plan.border = nil
        if let size { plan.source = FrameShape(size: size, hasAlpha: source.hasAlpha) }
        return plan
    }

    /// - Parameter hasGainMap: Whether the image has a gain map; used if the plan keeps it.
    package func with(gamut: Gamut, steps: RenderSteps, hasGainMap: Bool) -> RenderPlan {
        var plan = self
        plan.gamut = gamut
        plan.steps = steps
        plan.hasGainMap = self.hasGainMap && hasGainMap
        return plan
    }

    /// Returns the plan for an image to which the first steps have been applied.
    package func droppingFirstSteps(_ count: Int) -> RenderPlan {
        var plan = self
        plan.source = steps.prefix(count).reduce(source) { $1.shape(after: $0) }
        plan.steps.removeFirst(count)
        return plan
    }
}

extension RenderPlan {
    /// The plan's part of a result's key on disk.
    ///
    /// Written out, so that renaming code does not invalidate results on disk. Change a text if and only if the bytes
    /// of results change.
    package var keyTexts: [String] {
        [decode.keyText] + steps.map(\.keyText) + [encodingKeyText]
            + (border.map { ["\($0.keyText)\(drawnBorder == nil ? "" : " drawn anew")"] } ?? [])
            + (attribution == nil ? [] : ["copyright"]) + (rights.map { [$0.keyText] } ?? [])
            + (gamut == .srgb ? [] : ["gamut \(gamut.rawValue)"])
            + additions.map { "addition \($0.keyText)" } + (timing.map { [$0.keyText] } ?? [])
            + (isDataURL ? ["data URL"] : []) + (isStacked && format.supportsAnimation ? ["stacked"] : [])
    }

    package var summary: [String] {
        let pages = decode.isAnimated ? "all frames, at most \(decode.maximumFrames)" : "page \(decode.page)"
        let level = decode.level > 1 ? ", reduced to 1/\(decode.level) of each side" : ""
        let drawing = decode.drawnSize.map { ", drawn as \($0) pixels" } ?? ""
        let quality = isLossless ? " without loss" : format.hasQuality ? " with \(quality.summary)" : ""
        let encoding = quality + gamut.summary
        return ["decode \(pages)\(level)\(drawing)"] + (border.map { [$0.summary] } ?? []) + steps.map(\.summary)
            + ["encode as \(format.rawValue)\(encoding)\(attribution == nil ? "" : ", with copyright and artist")"]
            + (rights.map { ["keep \($0.keyText)"] } ?? [])
            + (decode.keepsGainMap ? ["add the gain map, after the same steps"] : [])
            + (isDataURL ? ["write the file as a data: URL"] : [])
    }

    private var encodingKeyText: String {
        let version = format.writing?.version ?? 1
        return format.rawValue + (version == 1 ? "" : ".\(version)") + " \(quality.keyText)"
            + (qualityScale == .visual ? " look.2" : "") + (isLossless ? " lossless" : "")
            + (effort == format.effort ? "" : " effort \(effort)")
            + (bitDepth == format.bitDepth ? "" : " bits \(bitDepth)") + (decode.keepsGainMap ? " gain map.2" : "")
    }
}

extension DecodePlan {
    fileprivate var keyText: String {
        let frames = isAnimated ? "frames \(maximumFrames)" + (page == 0 ? "" : " from \(page)") : "page \(page)"
        let region = drawnRegion.map { " at \($0.keyText)" } ?? ""
        let drawing = drawnSize.map { " drawn \($0.keyText)\(region)" } ?? ""
        return "\(frames) level \(level) \(incompleteImages.rawValue)\(drawing)"
            + (gamut == .withinSRGB ? "" : " \(gamut.rawValue)") + (keepsGainMap ? " gain map" : "")
    }
}
