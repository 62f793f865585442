import Coordination
import Downloading
import HTTPTypes
import Memory
import ThumbnailTypes

/// The sources that one caller has waited for.
struct Fetch: Sendable {
    let sources: PerSource<FetchedSource>

    var records: PerSource<SourceRecord> { sources.mapValues(\.record) }
    var bytes: PerSource<SharedBytes?> { sources.mapValues(\.bytes) }
    var isFromCache: PerSource<Bool> { sources.mapValues(\.isFromCache) }

    /// The source reported in `Cache-Status` and `Server-Timing`: the first whose origin was contacted, otherwise the
    /// image.
    private var shown: FetchedSource { sources.first { !$0.isFromCache } ?? sources.image }
    var status: CacheLayerStatus { shown.status }
    var timings: [StepTiming] { shown.timings }

    /// The queue timeout of work on the sources; nil for the lane's default.
    ///
    /// Sources fetched or opened by this caller are not given up while there is time.
    var queueTimeout: Duration? {
        sources.contains { !$0.isFromCache || $0.isOpened } ? sources.map(\.timeLeft).min() : nil
    }
}

/// A source that one caller has waited for.
struct FetchedSource: Sendable {
    /// The bytes; nil if the caller only needed to know that the source is unchanged.
    let bytes: SharedBytes?
    let record: SourceRecord
    let status: CacheLayerStatus
    let timings: [StepTiming]
    let timeLeft: Duration
    /// Whether the caller had already opened it.
    let isOpened: Bool
    /// Whether the origin was not contacted.
    var isFromCache: Bool { status.outcome == .hit }

    /// Wraps an image that the caller has already opened.
    init(_ source: OpenedSource, timeLeft: Duration) {
        bytes = source.bytes
        isOpened = true
        record = source.record
        self.timeLeft = timeLeft
        status = CacheLayerStatus(.source, .hit)
        timings = []
    }

    /// - Parameters:
    ///   - delivery: The downloader's delivery.
    ///   - record: The record that was read from it.
    ///   - isStored: Whether the source cache stores it.
    ///   - now: The wall clock's seconds since 1970.
    ///   - duration: The time that the caller waited, including queueing.
    ///   - timeLeft: The caller's remaining time.
    init(
        delivery: Delivery, record: SourceRecord, isStored: Bool, now: Int, duration: Duration, timeLeft: Duration
    ) {
        self.timeLeft = timeLeft
        isOpened = false
        bytes = delivery.bytes
        self.record = record
        let exchange = delivery.exchange
        let timeToLive = record.freshness.remainingLifetime(at: now)
        status = CacheLayerStatus(
            .source, exchange.map { CacheLayerStatus.Outcome($0.reason) } ?? .hit,
            isCollapsed: delivery.participation == .joined, isStored: delivery.participation == .started && isStored,
            forwardStatus: exchange.flatMap { $0.hasFailed || $0.status == 304 ? $0.status : nil },
            timeToLive: delivery.participation == .cached && timeToLive < 0 ? timeToLive : nil)
        guard let transfer = exchange?.timings, delivery.participation != .cached else {
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
