package import Coordination
import Memory
package import Recipes

package enum ImageRenderer {
    /// Renders and encodes a plan; the same pixels and plan always have the same bytes.
    ///
    /// - Parameters:
    ///   - additions: The pixels of additional sources, one for each decode in the plan.
    ///   - additionCache: Caches scaled additional sources.
    ///   - faces: The faces of the source, largest first, if the plan needs them.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package static func render(
        _ image: DecodedImage, additions: [DecodedImage] = [],
        additionCache: @escaping AdditionPixelCache = AdditionForm.uncached, faces: [Face] = [], plan: RenderPlan,
        token: WorkToken, codec: any ImageCodec = InProcessCodec()
    ) throws -> EncodedImage {
        precondition(additions.count == plan.additions.count, "the plan has another number of additional sources")
        try token.check()
        defer { extendLifetime(token) }
        // libvips evaluates lazily, so steps may read these until encoding ends.
        defer { extendLifetime(additions) }
        let trimmed = try plan.border?.resolved(plan, for: image, token: token) ?? plan
        let resolved = trimmed.resolvingFaces(faces)
        let render = ImageRender(
            image: image, additions: additions, additionCache: additionCache, token: token, codec: codec)
        let gamut = resolved.gamut == .auto ? try render.visibleGamut(by: resolved) : resolved.gamut
        return try render.encoded(by: resolved.convertingColors(of: image, to: gamut))
    }

    package static func placeholder(
        color: Color, size: PixelSize, format: ImageFormat, token: WorkToken, codec: any ImageCodec = InProcessCodec()
    ) throws -> EncodedImage {
        defer { extendLifetime(token) }
        let opaque = color.alpha == 255 || !format.supportsAlpha
        let shown = format.supportsAlpha ? color : color.composited(over: .white)
        let pixel = [shown.red, shown.green, shown.blue] + (opaque ? [] : [shown.alpha])
        let settings = EncoderSettings(
            quality: format.encoderQuality(pixels: size.area), effort: format.effort, bitDepth: format.bitDepth)
        // A single pixel is enough, because libvips repeats it.
        return try VipsError.asEncodeFailure(token: token) {
            try unsafe SharedBytes(pixel).withUnsafeBytes { bytes throws in
                let image = try unsafe VipsImage.wrapping(bytes, width: 1, height: 1, bands: pixel.count)
                    .embedded(left: 0, top: 0, in: size, background: pixel.map(Double.init))
                let file = try image.encoded(
                    frameSize: size, format: format, settings: settings, token: token, codec: codec)
                return EncodedImage(bytes: file, format: format, size: size)
            }
        }
    }
}

/// The render of one image, by a plan whose steps have known positions except for crops by content.
private struct ImageRender {
    let image: DecodedImage
    let additions: [DecodedImage]
    let additionCache: AdditionPixelCache
    let token: WorkToken
    let codec: any ImageCodec

    /// Display P3 if the result shows colors outside sRGB; otherwise sRGB.
    func visibleGamut(by plan: RenderPlan) throws -> Gamut {
        let plan = plan.convertingColors(of: image, to: .p3)
        guard plan.gamut == .p3 else { return .srgb }
        var pixels = image
        var rest = plan
        if case .planar = image.layout {
            let (target, planAfterPlanes) = PlanarLane.split(plan, for: image, needsPixels: true)
            pixels = try PlanarRenderer.renderPixels(of: image, to: target, token: token)
            rest = planAfterPlanes
        }
        let exceedsSRGB = try withFrames(of: pixels, by: rest) { frames in
            try DecodedImage(
                pixels: frames.image.pixels(token: token), size: rest.outputSize, bands: frames.image.bands,
                frames: frames.count
            ).exceedsSRGB(token: token)
        }
        return exceedsSRGB ? .p3 : .srgb
    }

    /// Renders the leading steps on planes if they support them, and the other steps with libvips.
    func encoded(by plan: RenderPlan) throws -> EncodedImage {
        guard case .planar = image.layout else { return try encodeByVips(image, rest: plan, of: plan) }
        let (target, rest) = PlanarLane.split(plan, for: image)
        if let encoder = PlanarLane.encoder(for: image, rest: rest) {
            return try encodePlanes(
                target, stamps: stamps(for: rest.steps, encoder: encoder), plan: plan, encoder: encoder)
        }
        let pixels = try PlanarRenderer.renderPixels(of: image, to: target, token: token)
        return try encodeByVips(pixels, rest: rest, of: plan)
    }

    private func stamps(for steps: RenderSteps, encoder: PlaneEncoder) throws -> [PlaneStamp] {
        var stamps: [PlaneStamp] = []
        for case let step as any PlaneStampStep in steps {
            var context = StepContext(token: token, additions: additions, cache: additionCache)
            stamps.append(
                try VipsError.asEncodeFailure(token: token) { try step.stamp(in: encoder.range, context: &context) })
        }
        return stamps
    }

    private func encodePlanes(
        _ target: PlanarTarget, stamps: [PlaneStamp], plan: RenderPlan, encoder: PlaneEncoder
    ) throws -> EncodedImage {
        var target = target
        target.chromaStep = plan.chromaStep
        target.range = encoder.range
        target.needsChroma = encoder.needsChroma
        let gainMap = gainMapMaker(for: plan, steps: plan.steps)
        // Rows are resampled during the encoding.
        token.beginWriting()
        guard case .fixed(let quality) = plan.quality else {
            let trials = PlaneTrials(
                of: image, target: target, encoder: encoder, plan: plan, token: token, codec: codec)
            return try QualitySearch(trials, for: plan, gainMap: gainMap).result()
        }
        let settings = plan.settings(quality: quality)
        let file =
            if plan.format.isEncodedByWorker {
                try codec.encode(
                    PlanarRenderer.renderPlanes(of: image, to: target, token: token), as: plan.format,
                    settings: settings, token: token)
            } else {
                try PlanarRenderer.encode(
                    image, to: target, stamps: stamps, encoder: encoder, settings: settings, token: token)
            }
        return try plan.encodedImage(file, gainMap: gainMap)
    }

    /// - Parameters:
    ///   - pixels: The image after the steps that are not in `rest`.
    ///   - rest: The plan without the steps that are already done.
    private func encodeByVips(_ pixels: DecodedImage, rest: RenderPlan, of plan: RenderPlan) throws -> EncodedImage {
        let doneSteps = Array(plan.steps.dropLast(rest.steps.count))
        return try withFrames(of: pixels, by: rest) { frames in
            let gainMap = gainMapMaker(for: plan, steps: RenderSteps(doneSteps + Array(frames.steps)))
            return try encode(frames, of: pixels, plan: rest, gainMap: gainMap)
        }
    }

    private func encode(
        _ frames: ComposedFrames, of pixels: DecodedImage, plan: RenderPlan, gainMap: @escaping GainMapMaker
    ) throws -> EncodedImage {
        let isAnimated = frames.count > 1
        let delays = isAnimated ? plan.timing?.delays(for: pixels.delays) ?? pixels.delays : []
        let loop = isAnimated ? plan.timing?.loop ?? pixels.loop : 0
        if isAnimated, !plan.isStacked {
            frames.image.markAnimated(frameHeight: plan.outputSize.height, delays: delays, loop: loop)
        }
        // libvips computes the steps during the encoding.
        token.beginWriting()
        guard case .fixed(let quality) = plan.quality else {
            let rendered = DecodedImage(
                pixels: try frames.image.pixels(token: token), size: plan.outputSize, bands: frames.image.bands,
                frames: frames.count, delays: delays, loop: loop)
            let trials = PixelTrials(of: rendered, plan: plan, token: token, codec: codec)
            return try QualitySearch(trials, for: plan, gainMap: gainMap).result()
        }
        let file = try frames.image.encoded(
            frameSize: plan.outputSize, format: plan.format, settings: plan.settings(quality: quality),
            hasSharpChroma: plan.hasSharpChroma, token: token, codec: codec)
        return try plan.encodedImage(file, gainMap: gainMap)
    }

    /// - Parameter steps: All steps, with known positions.
    private func gainMapMaker(for plan: RenderPlan, steps: RenderSteps) -> GainMapMaker {
        guard plan.decode.keepsGainMap, let map = image.gainMap else { return { _ in nil } }
        return { file in
            try map.encoded(for: file, of: image, by: plan, steps: steps, token: token, codec: codec)
        }
    }

    /// Calls `body` with the frames, which libvips computes when they are read.
    private func withFrames<Result>(
        of pixels: DecodedImage, by plan: RenderPlan, _ body: (ComposedFrames) throws -> Result
    ) throws -> Result {
        try VipsError.asEncodeFailure(token: token) {
            try unsafe pixels.pixels.withUnsafeBytes { bytes throws in
                let frameBytes = bytes.count / pixels.frames
                let count = plan.isAnimated ? pixels.frames : 1
                var composer = FrameComposer(plan: plan, token: token, additions: additions, cache: additionCache)
                // The pixels of steps are read until encoding ends.
                defer { extendLifetime(composer) }
                var frames: [VipsImage] = []
                for index in 0..<count {
                    try token.check()
                    let frame = unsafe UnsafeRawBufferPointer(
                        rebasing: bytes[index * frameBytes..<(index + 1) * frameBytes])
                    let source = try unsafe VipsImage.wrapping(
                        frame, width: pixels.size.width, height: pixels.size.height, bands: pixels.bands)
                    frames.append(try composer.compose(source))
                }
                return try body(ComposedFrames(image: .stacked(frames), count: count, steps: composer.resolvedSteps))
            }
        }
    }
}

/// Stacked frames, and the steps that compute them, with known positions.
private struct ComposedFrames {
    let image: VipsImage
    let count: Int
    let steps: RenderSteps
}

/// Composes frames; decisions for the first frame apply to all.
private struct FrameComposer {
    private let plan: RenderPlan
    private let work: [StepWork]
    private var contexts: [StepContext]

    init(plan: RenderPlan, token: WorkToken, additions: [DecodedImage], cache: @escaping AdditionPixelCache) {
        self.plan = plan
        work = plan.steps.work(on: plan.source)
        contexts = plan.steps.map { _ in StepContext(token: token, additions: additions, cache: cache) }
    }

    var resolvedSteps: RenderSteps { plan.steps.resolved { contexts[$0].decision(as: (left: Int, top: Int).self) } }

    mutating func compose(_ source: VipsImage) throws -> VipsImage {
        var frame = source
        for (index, step) in plan.steps.enumerated() {
            if work[index].keepsInput { frame = try frame.computed() }
            frame = try step.vipsStep.applied(to: frame, in: &contexts[index])
        }
        if frame.hasAlpha, !plan.format.supportsAlpha { frame = try frame.flattenedInColor(on: .white) }
        guard frame.width == plan.outputSize.width, frame.height == plan.outputSize.height else {
            throw VipsError(text: "\(frame.width)×\(frame.height) instead of \(plan.outputSize)")
        }
        return frame
    }
}

extension VipsImage {
    /// Encodes the frames in this process or, if the format's encoder cannot be interrupted, in a worker process.
    fileprivate func encoded(
        frameSize: PixelSize, format: ImageFormat, settings: EncoderSettings, hasSharpChroma: Bool = true,
        token: WorkToken, codec: any ImageCodec
    ) throws -> SharedBytes {
        let frames = height / (integer("page-height") ?? height)
        if format.isEncodedByWorker(frames: frames), height == frameSize.height * frames {
            let rendered = DecodedImage(
                pixels: try pixels(token: token), size: frameSize, bands: bands, frames: frames,
                delays: frames > 1 ? integers("delay") : [], loop: frames > 1 ? integer("loop") ?? 0 : 0)
            return try codec.encode(rendered, as: format, settings: settings, token: token)
        }
        watch(token)
        let file = try saved(
            as: format, options: VipsSaveOptions(settings: settings, hasSharpChroma: hasSharpChroma, token: token))
        try token.check()
        return file
    }
}
