import Coordination
import Downloading

/// A source that one caller has waited for.
struct Fetch: Sendable {
    let source: Source
    let record: SourceRecord
    let status: CacheLayerStatus
    let timings: [StepTiming]

    /// - Parameters:
    ///   - delivery: What the downloader handed over.
    ///   - record: What was read from it.
    ///   - isStale: Whether the source cache knew it, but had to ask.
    ///   - isStored: Whether the source cache keeps it.
    ///   - duration: How long the caller waited, queueing included.
    init(delivery: Delivery, record: SourceRecord, isStale: Bool, isStored: Bool, duration: Duration) {
        source = delivery.source
        self.record = record
        let isHit = delivery.origin == .cache
        status = CacheLayerStatus(
            .source, isHit ? .hit : isStale ? .stale : .uriMiss, isCollapsed: delivery.origin == .joined,
            isStored: delivery.origin == .started && isStored)
        let transfer = delivery.source.timings
        timings =
            isHit
            ? []
            : [
                StepTiming("dns", transfer.dns), StepTiming("connect", transfer.connect),
                StepTiming("tls", transfer.tls),
                StepTiming("ttfb", transfer.firstByte), StepTiming("transfer", transfer.total),
                StepTiming("source", duration),
            ]
    }
}

/// What one render did.
struct Render: Sendable {
    let result: RenderedImage
    var isStored = false
    /// What the decoded cache had to say; nil where it was not asked.
    var decoded: CacheLayerStatus?
    var timings: [StepTiming] = []
}

/// A render and how one caller came by it.
struct SharedRender: Sendable {
    let render: Render
    let origin: SharedTasks<ResultKey, Render>.Origin

    var resultStatus: CacheLayerStatus {
        CacheLayerStatus(
            .result, origin == .cache ? .hit : .uriMiss, isCollapsed: origin == .joined,
            isStored: origin == .started && render.isStored)
    }
}
