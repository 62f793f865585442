import Coordination
import Downloading
import HTTPTypes
import Memory
import Telemetry
import ThumbnailTypes

/// A source as one caller has it: known from the caches, fetched, or opened earlier.
struct AvailableSource: Sendable {
    let record: SourceRecord
    /// The file; nil if the caller only knows that the source is unchanged.
    var bytes: SharedBytes?
    var status = CacheLayerStatus(.source, .hit)
    var timings: [StepTiming] = []
    /// Nil for a source from the caches; work on others is not given up while there is time.
    var timeLeft: Duration?

    var isFromCache: Bool { status.outcome == .hit }
}

extension AvailableSource {
    init(_ record: SourceRecord) { self.record = record }

    /// - Parameters:
    ///   - duration: Of the fetch, including queueing.
    ///   - now: In seconds since 1970.
    init(
        _ copy: SourceCopy, record: SourceRecord, isStored: Bool, now: Int, duration: Duration, timeLeft: Duration
    ) {
        self.record = record
        bytes = copy.bytes
        let exchange = copy.exchange
        let timeToLive = record.freshness.remainingLifetime(at: now)
        status = CacheLayerStatus(
            .source, exchange.map { CacheLayerStatus.Outcome($0.reason) } ?? .hit,
            isCollapsed: copy.participation == .joined, isStored: copy.participation == .started && isStored,
            forwardStatus: exchange.flatMap { $0.hasFailed || $0.status == 304 ? $0.status : nil },
            timeToLive: copy.participation == .cached && timeToLive < 0 ? timeToLive : nil)
        if !isFromCache { self.timeLeft = timeLeft }
        guard let transfer = exchange?.timings, copy.participation != .cached else { return }
        timings = transfer.steps + [StepTiming("source", duration)]
    }
}

extension TransferTimings {
    var steps: [StepTiming] {
        [
            StepTiming("dns", dns), StepTiming("connect", connect), StepTiming("tls", tls),
            StepTiming("ttfb", firstByte), StepTiming("transfer", total),
        ]
    }
}

extension PerSource where Value == AvailableSource {
    var records: PerSource<SourceRecord> { mapValues(\.record) }

    /// `Cache-Status` and `Server-Timing` report the first whose origin was contacted, otherwise the image.
    var reported: AvailableSource { first { !$0.isFromCache } ?? image }

    /// The timeout of the wait for a turn or a worker; nil for the lane's default.
    var queueTimeout: Duration? { compactMap(\.timeLeft).min() }
}

extension CacheLayerStatus.Outcome {
    init(_ reason: OriginResponseInfo.Reason) {
        switch reason {
        case .unknown: self = .uriMiss
        case .otherVariant: self = .varyMiss
        case .stale: self = .stale
        case .requested: self = .request
        }
    }
}
