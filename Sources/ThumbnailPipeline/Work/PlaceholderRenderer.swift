import Coordination
import Imaging
import Memory
import Recipes
import ThumbnailTypes

struct PlaceholderRenderer: Sendable {
    let configuration: PipelineConfiguration
    let scheduler: WorkScheduler
    let memory: WorkMemory
    let codec: any ImageCodec
    let timekeeper: any Timekeeper
    let tasks = SharedTasks<PlaceholderKey, EncodedImage>()
    private let cache = MemoryCache<PlaceholderKey, EncodedImage>(
        CacheBounds(capacity: capacity, preferred: capacity / 4 * 3), cost: { $0.bytes.footprint + 1_024 })

    /// A typical image takes 2 kB, the largest some hundred.
    private static let capacity = 4 << 20

    /// Admits and renders the image like a result: once for all concurrent requests.
    func image(_ placeholder: Placeholder, bill: RequestBill?) async throws -> EncodedImage {
        let size = placeholder.size
        let rules = configuration.rules
        let format = placeholder.format.format(
            from: .png, hasAlpha: true, pixels: size.area, automatic: rules.automaticFormats,
            excluding: Set(rules.automaticFormats.filter { !rules.limits.allow(size, in: $0) }))
        guard rules.limits.allow(size, in: format) else { throw PipelineError.placeholderTooLarge }
        let color = placeholder.color
        let visibleColor = format.supportsAlpha ? color : color.composited(over: .white)
        let key = PlaceholderKey(color: visibleColor, size: size, format: format)
        return try await tasks.value(for: key, cached: { cache.value(for: key) }) {
            let image = try await render(key, bill: bill)
            cache.add(image, for: key)
            return image
        }.value
    }

    private func render(_ key: PlaceholderKey, bill: RequestBill?) async throws -> EncodedImage {
        let plan = RenderPlan(
            resizedSize: key.size, format: key.format, quality: key.format.encoderQuality(pixels: key.size.area))
        let cost = WorkCost(of: plan, ofPlain: key.color)
        let flow = Job.flow(of: nil, bill: bill)
        return try await scheduler.run(of: flow, queueTimeout: nil, cost: { cost }) { permit in
            let reservation = try await memory.reserve(forPlaceholder: plan, of: bill?.tenantFlow)
            let clock = WorkClock(at: timekeeper.now)
            defer {
                reservation.release()
                bill?.charge(processor: clock.processorTime.whole)
            }
            return try await scheduler.lanes.workers(for: cost.render).run(
                timeLimit: configuration.decodeTimeout, queueTimeout: permit.queueTimeout
            ) { [codec, timekeeper] token in
                try clock.perform(token, at: timekeeper.now) {
                    try ImageRenderer.placeholder(
                        color: key.color, size: key.size, format: key.format, token: token, codec: codec)
                }
            }
        }
    }
}

struct PlaceholderKey: SourceKeyed {
    let color: Color
    let size: PixelSize
    let format: ImageFormat

    /// The color, instead of a source: a single-color image has none.
    var source: Color { color }

    var byteCount: Int { EntryCost.bytes(of: Self.self) }
}
