import Coordination
import Imaging

/// Makes plain images that stand in for sources that fail.
struct PlaceholderMaker: Sendable {
    let configuration: PipelineConfiguration
    let scheduler: WorkScheduler
    let memory: WorkMemory
    let codec: any ImageCodec
    let cache = PlaceholderCache()

    /// A plain image in the size of the request's box; 1×1 if the request names no side.
    ///
    /// Judged, priced and made like a result: once for all requests that want it at the same time.
    func image(for request: ThumbnailRequest, color: Color) async throws -> EncodedImage {
        let size = request.options.placeholderSize
        let format = request.format.format(
            own: .png, hasAlpha: true, automatic: configuration.automaticFormats)
        guard max(size.width, size.height) <= format.maximumSide,
            size.area <= configuration.limits.maximumFramePixels(of: format)
        else { throw PipelineError.placeholderTooLarge }
        let shown = format.supportsAlpha ? color : color.composited(over: .white)
        let key = PlaceholderKey(color: shown, size: size, format: format)
        return try await cache.image(for: key) { try await make(key) }
    }

    private func make(_ key: PlaceholderKey) async throws -> EncodedImage {
        let plan = RenderPlan(resizedSize: key.size, format: key.format, quality: key.format.defaultQuality)
        let price = WorkPrice(of: plan, ofPlain: key.color)
        return try await scheduler.run(price, patience: nil) { patience in
            let room = try await memory.reserve(forPlaceholder: plan)
            defer { room.release() }
            return try await scheduler.lanes.workers(for: price.render).run(
                timeLimit: configuration.decodeTimeout, patience: patience
            ) { [codec] token in
                try ImageRenderer.placeholder(
                    color: key.color, size: key.size, format: key.format, token: token, codec: codec)
            }
        }
    }
}

extension RenderingOptions {
    /// The box in pixels as a placeholder fills it: a missing side equals the given one, 1×1 with neither.
    var placeholderSize: PixelSize {
        guard let side = width ?? height else { return PixelSize(width: 1, height: 1) }
        return PixelSize(width: devicePixels(width ?? side), height: devicePixels(height ?? side))
    }

    /// CSS pixels times the device pixel ratio, rounded half up, never below 1.
    private func devicePixels(_ side: Int) -> Int {
        max(1, (side * devicePixelRatio + 500) / 1_000)
    }
}
