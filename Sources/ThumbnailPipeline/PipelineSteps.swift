import Coordination
import Downloading
import HTTPTypes
import Memory

/// A source that one caller has waited for.
struct Fetch: Sendable {
    /// The bytes; nil where it was enough to know that the source is unchanged.
    let bytes: SharedBytes?
    let record: SourceRecord
    let status: CacheLayerStatus
    let timings: [StepTiming]
    /// What is left of the caller's time.
    let timeLeft: Duration

    /// - Parameters:
    ///   - delivery: What the downloader handed over.
    ///   - record: What was read from it.
    ///   - isStored: Whether the source cache keeps it.
    ///   - now: The wall clock's seconds since 1970.
    ///   - duration: How long the caller waited, queueing included.
    ///   - timeLeft: How long it may wait still.
    init(
        delivery: Delivery, record: SourceRecord, isStored: Bool, now: Int, duration: Duration, timeLeft: Duration
    ) {
        self.timeLeft = timeLeft
        bytes = delivery.bytes
        self.record = record
        let exchange = delivery.exchange
        let timeToLive = record.freshness.remainingLifetime(at: now)
        status = CacheLayerStatus(
            .source, exchange.map { CacheLayerStatus.Outcome($0.reason) } ?? .hit,
            isCollapsed: delivery.origin == .joined, isStored: delivery.origin == .started && isStored,
            forwardStatus: exchange.flatMap { $0.hasFailed || $0.status == 304 ? $0.status : nil },
            timeToLive: delivery.origin == .cache && timeToLive < 0 ? timeToLive : nil)
        guard let transfer = exchange?.timings, delivery.origin != .cache else {
            timings = []
            return
        }
        timings = [
            StepTiming("dns", transfer.dns), StepTiming("connect", transfer.connect),
            StepTiming("tls", transfer.tls), StepTiming("ttfb", transfer.firstByte),
            StepTiming("transfer", transfer.total), StepTiming("source", duration),
        ]
    }
}

extension CacheLayerStatus.Outcome {
    init(_ reason: OriginExchange.Reason) {
        switch reason {
        case .unknown: self = .uriMiss
        case .otherVariant: self = .varyMiss
        case .stale: self = .stale
        case .requested: self = .request
        }
    }
}

/// What one render did.
struct Render: Sendable {
    let result: RenderedImage
    var isStored = false
    /// Whether it was made before, and came from the disk.
    var isFromDisk = false
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
            .result, origin == .cache || render.isFromDisk ? .hit : .uriMiss, isCollapsed: origin == .joined,
            isStored: origin == .started && render.isStored)
    }
}

/// One caller's request on its way.
struct Call: Sendable {
    let request: ThumbnailRequest
    /// The identity of the request's source.
    let source: SourceIdentity
    /// What the caller asks of the caches.
    let directives: RequestCacheControl
    /// The name of the caller's wait for a download.
    let receipt: String

    /// The same once more, with nothing asked of the caches but what forbids a download.
    var again: Call {
        var directives = RequestCacheControl.none
        directives.onlyIfCached = self.directives.onlyIfCached
        return Call(request: request, source: source, directives: directives, receipt: receipt)
    }
}

/// What a render is made from.
struct RenderJob: Sendable {
    let key: ResultKey
    let record: SourceRecord
    /// The source's file; nil if it is not at hand.
    var bytes: SharedBytes?
    /// Bound on the wait for a turn or a worker; nil for what the lane grants.
    var patience: Duration?
}

/// What a caller came by, of which its answer is made.
struct Finding {
    let result: RenderedImage
    let record: SourceRecord
    /// Whether the source's age counts.
    let isFromCache: Bool
    let status: [CacheLayerStatus]
    var timings: [StepTiming] = []
}
