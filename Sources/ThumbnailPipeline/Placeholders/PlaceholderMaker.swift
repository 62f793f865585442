import Coordination
import Imaging

/// Makes plain images that stand in for sources that fail.
struct PlaceholderMaker: Sendable {
    let configuration: PipelineConfiguration
    let scheduler: WorkScheduler
    let memory: WorkMemory
    let codec: any ImageCodec
    let cache = PlaceholderCache()

    /// A plain image.
    ///
    /// Judged, priced and made like a result: once for all requests that want it at the same time.
    func image(_ placeholder: Placeholder) async throws -> EncodedImage {
        let size = placeholder.size
        let format = placeholder.format.format(
            own: .png, hasAlpha: true, automatic: configuration.rules.automaticFormats)
        guard max(size.width, size.height) <= format.maximumSide,
            size.area <= configuration.rules.limits.maximumFramePixels(of: format)
        else { throw PipelineError.placeholderTooLarge }
        let color = placeholder.color
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
