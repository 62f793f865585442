package import Coordination
import Memory
package import Recipes

package enum ImageRenderer {
    /// Renders and encodes a plan; the same pixels and plan always have the same bytes.
    ///
    /// - Parameters:
    ///   - additions: The pixels of additional sources, one for each decode in the plan.
    ///   - reuse: Caches scaled additional sources.
    ///   - faces: The faces of the source, largest first, if the plan needs them.
    /// - Throws: ``ImagingError/encodeFailed(detail:)``.
    package static func render(
        _ image: DecodedImage, additions: [DecodedImage] = [], reuse: @escaping AdditionPixelCache = AdditionForm.made,
        faces: [Face] = [], plan: RenderPlan, token: WorkToken, codec: any ImageCodec = InProcessCodec()
    ) throws -> EncodedImage {
        precondition(additions.count == plan.additions.count, "the plan is for another number of images")
        try token.check()
        defer { extendLifetime(token) }
        // libvips evaluates lazily, so steps may read these until encoding ends.
        defer { extendLifetime(additions) }
        func composer(_ plan: RenderPlan) -> FrameComposer {
            FrameComposer(plan: plan, token: token, additions: additions, reuse: reuse)
        }
        let resolved = try (plan.border?.resolved(plan, for: image, token: token) ?? plan).placed(by: faces)
        let isAnyWide = try resolved.gamut == .auto && isWide(image, by: resolved, token: token, composer: composer)
        let plan = resolved.shown(from: image, in: isAnyWide ? .p3 : resolved.gamut)
        let source = image
        func gainMap(after steps: RenderSteps) -> GainMapMaker {
            guard plan.decode.keepsGainMap, let map = source.gainMap else { return { _ in nil } }
            return { file in try map.encoded(for: file, of: source, by: plan, steps, token: token, codec: codec) }
        }
        func rendered(_ image: DecodedImage, _ rest: RenderPlan) throws -> EncodedImage {
            let done = Array(plan.steps.dropLast(rest.steps.count))
            return try withResult(composer(rest), of: image, token: token) { result, frames, placed in
                try encode(
                    result, frames: frames, of: image, plan: rest,
                    gainMap: gainMap(after: RenderSteps(done + Array(placed))), token: token, codec: codec)
            }
        }
        guard case .planar = image.layout else { return try rendered(image, plan) }
        let (target, rest) = PlanarLane.part(of: plan, for: image)
        if let encoder = PlanarLane.encoder(for: image, rest: rest) {
            var stamps: [PlaneStamp] = []
            for case let step as any PlaneStampStep in rest.steps {
                var context = StepContext(token: token, additions: additions, reuse: reuse)
                stamps.append(try VipsError.reported(token) { try step.stamp(in: encoder.range, context: &context) })
            }
            return try renderPlanes(
                of: image, to: target, stamps: stamps, plan: plan, encoder: encoder,
                gainMap: gainMap(after: plan.steps), token: token, codec: codec)
        }
        return try rendered(PlanarRenderer.pixels(of: image, target: target, token: token), rest)
    }

    private static func renderPlanes(
        of image: DecodedImage, to target: PlanarTarget, stamps: [PlaneStamp], plan: RenderPlan, encoder: PlaneEncoder,
        gainMap: @escaping GainMapMaker, token: WorkToken, codec: any ImageCodec
    ) throws -> EncodedImage {
        var target = target
        target.chromaStep = plan.chromaStep
        target.range = encoder.range
        target.needsChroma = encoder.needsChroma
        // Rows are resampled during the encoding.
        token.beginWriting()
        guard case .fixed(let quality) = plan.quality else {
            let trials = PlaneTrials(
                of: image, target: target, encoder: encoder, plan: plan, token: token, codec: codec)
            return try QualitySearch(trials, for: plan, gainMap: gainMap).result()
        }
        let file =
            if plan.format.isEncodedByWorker {
                try codec.encode(
                    PlanarRenderer.planes(of: image, target: target, token: token), as: plan.format,
                    settings: plan.settings(quality: quality), token: token)
            } else {
                try PlanarRenderer.file(
                    of: image, target: target, stamps: stamps, encoder: encoder,
                    settings: plan.settings(quality: quality), token: token)
            }
        return try plan.encodedImage(file, gainMap: gainMap)
    }

    private static func isWide(
        _ image: DecodedImage, by plan: RenderPlan, token: WorkToken, composer: (RenderPlan) -> FrameComposer
    ) throws -> Bool {
        let shown = plan.shown(from: image, in: .p3)
        guard shown.gamut == .p3 else { return false }
        var source = image, rest = shown
        if case .planar = image.layout {
            let part = PlanarLane.part(of: shown, for: image, needsPixels: true)
            source = try PlanarRenderer.pixels(of: image, target: part.target, token: token)
            rest = part.rest
        }
        return try withResult(composer(rest), of: source, token: token) { result, frames, _ in
            try DecodedImage(
                pixels: result.pixels(token: token), size: rest.outputSize, bands: result.bands, frames: frames
            ).isWide(token: token)
        }
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
        return try VipsError.reported(token) {
            try unsafe SharedBytes(pixel).withUnsafeBytes { bytes throws in
                let image = try unsafe VipsImage.pixels(bytes, width: 1, height: 1, bands: pixel.count)
                    .embedded(left: 0, top: 0, in: size, background: pixel.map(Double.init))
                return EncodedImage(
                    bytes: try encode(
                        image, size: size, format: format, settings: settings, token: token, codec: codec),
                    format: format, size: size)
            }
        }
    }

    /// Calls `body` with the lazily computed result; the steps have resolved positions.
    private static func withResult<Result>(
        _ composer: FrameComposer, of image: DecodedImage, token: WorkToken,
        _ body: (VipsImage, _ frames: Int, _ placed: RenderSteps) throws -> Result
    ) throws -> Result {
        try VipsError.reported(token) {
            try unsafe image.pixels.withUnsafeBytes { bytes throws in
                let frameBytes = bytes.count / image.frames
                let frames = composer.plan.isAnimated ? image.frames : 1
                var composer = composer
                // The pixels of steps are read until encoding ends.
                defer { extendLifetime(composer) }
                var results: [VipsImage] = []
                for frame in 0..<frames {
                    try token.check()
                    let part = unsafe UnsafeRawBufferPointer(
                        rebasing: bytes[frame * frameBytes..<(frame + 1) * frameBytes])
                    let source = try unsafe VipsImage.pixels(
                        part, width: image.size.width, height: image.size.height, bands: image.bands)
                    results.append(try composer.compose(source))
                }
                return try body(VipsImage.stacked(results), frames, composer.resolvedSteps)
            }
        }
    }

    private static func encode(
        _ result: VipsImage, frames: Int, of image: DecodedImage, plan: RenderPlan, gainMap: @escaping GainMapMaker,
        token: WorkToken, codec: any ImageCodec
    ) throws -> EncodedImage {
        let delays = frames > 1 ? plan.timing?.delays(for: image.delays) ?? image.delays : []
        let loop = frames > 1 ? plan.timing?.loop ?? image.loop : 0
        if frames > 1, !plan.isStacked {
            result.markAnimated(frameHeight: plan.outputSize.height, delays: delays, loop: loop)
        }
        // libvips computes the steps during the encoding.
        token.beginWriting()
        guard case .fixed(let quality) = plan.quality else {
            let finished = DecodedImage(
                pixels: try result.pixels(token: token), size: plan.outputSize, bands: result.bands, frames: frames,
                delays: delays, loop: loop)
            let trials = PixelTrials(of: finished, plan: plan, token: token, codec: codec)
            return try QualitySearch(trials, for: plan, gainMap: gainMap).result()
        }
        let file = try encode(
            result, size: plan.outputSize, format: plan.format, settings: plan.settings(quality: quality),
            hasSharpChroma: plan.hasSharpChroma, token: token, codec: codec)
        return try plan.encodedImage(file, gainMap: gainMap)
    }

    private static func encode(
        _ image: VipsImage, size: PixelSize, format: ImageFormat, settings: EncoderSettings,
        hasSharpChroma: Bool = true, token: WorkToken, codec: any ImageCodec
    ) throws -> SharedBytes {
        let frames = image.height / (image.integer("page-height") ?? image.height)
        if format.isEncodedByWorker(frames: frames), image.height == size.height * frames {
            let finished = DecodedImage(
                pixels: try image.pixels(token: token), size: size, bands: image.bands, frames: frames,
                delays: frames > 1 ? image.integers("delay") : [], loop: frames > 1 ? image.integer("loop") ?? 0 : 0)
            return try codec.encode(finished, as: format, settings: settings, token: token)
        }
        image.watch(token)
        let file = try image.saved(
            as: format, options: VipsSaveOptions(settings: settings, hasSharpChroma: hasSharpChroma, token: token))
        try token.check()
        return file
    }
}

/// Composes frames; decisions for the first frame apply to all.
private struct FrameComposer {
    let plan: RenderPlan
    private let work: [StepWork]
    private var contexts: [StepContext]

    init(plan: RenderPlan, token: WorkToken, additions: [DecodedImage], reuse: @escaping AdditionPixelCache) {
        self.plan = plan
        work = plan.steps.work(on: plan.source)
        contexts = plan.steps.map { _ in StepContext(token: token, additions: additions, reuse: reuse) }
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
