import Coordination
import Downloading
import HTTPTypes
import Memory
import Recipes
import Telemetry
import ThumbnailTypes

/// A source as one caller has it: from the caches, fetched, or opened earlier.
struct AvailableSource: Sendable {
    let record: SourceRecord
    /// The file; nil if the source is unchanged and was not sent again, or if only ranges were fetched.
    var bytes: SharedBytes?
    /// The only fetched range of a RAW photograph; nil for other sources.
    var preview: RAWPreview?
    var status = CacheLayerStatus(.source, outcome: .hit)
    var timings: [StepTiming] = []
    /// Time left to render a fetched source; nil for a cached one, which uses the lane's queue timeout.
    var timeLeft: Duration?

    var isFromCache: Bool { status.outcome == .hit }

    /// The file to decode, and its header.
    var file: SourceFile? {
        preview?.file ?? bytes.map { SourceFile(bytes: $0, header: record.header) }
    }
}

extension AvailableSource {
    init(_ record: SourceRecord) { self.record = record }

    init(_ opened: OpenedSource, timeLeft: Duration? = nil) {
        record = opened.record
        preview = opened.preview
        self.timeLeft = timeLeft
        if preview == nil { bytes = opened.bytes }
    }

    /// - Parameters:
    ///   - now: Seconds since 1970.
    ///   - duration: The time of the fetch, including its queue wait.
    init(_ copy: SourceCopy, record: SourceRecord, isStored: Bool, now: Int, duration: Duration, timeLeft: Duration) {
        self.record = record
        bytes = copy.bytes
        status = CacheLayerStatus(
            after: copy, isStored: isStored, secondsLeft: record.freshness.remainingLifetime(at: now))
        timings = copy.timings(in: duration)
        if !isFromCache { self.timeLeft = timeLeft }
    }
}

extension CacheLayerStatus {
    init(after copy: SourceCopy, isStored: Bool, secondsLeft: Int) {
        let exchange = copy.exchange
        let participation = copy.participation
        self.init(
            .source, outcome: exchange.map { Outcome($0.reason) } ?? .hit, isCollapsed: participation == .joined,
            isStored: participation == .started && isStored,
            forwardStatus: exchange.flatMap { $0.hasFailed || $0.status == 304 ? $0.status : nil },
            timeToLive: participation == .cached && secondsLeft < 0 ? secondsLeft : nil)
    }
}

extension SourceCopy {
    /// The steps of the transfer, and the duration of the whole fetch; none for a cached source.
    func timings(in duration: Duration) -> [StepTiming] {
        guard let exchange, participation != .cached else { return [] }
        return exchange.timings.steps + [StepTiming("source", duration: duration)]
    }
}

extension TransferTimings {
    var steps: [StepTiming] {
        [
            StepTiming("dns", duration: dns), StepTiming("connect", duration: connect),
            StepTiming("tls", duration: tls),
            StepTiming("ttfb", duration: firstByte), StepTiming("transfer", duration: total),
        ]
    }
}

extension PerSource where Value == AvailableSource {
    var records: PerSource<SourceRecord> { mapValues(\.record) }

    /// The source in `Cache-Status` and `Server-Timing`: the first whose origin was contacted, or the main one.
    var reported: AvailableSource { first { !$0.isFromCache } ?? main }

    /// The maximum wait for a permit or a thread; nil uses the lane's default.
    var queueTimeout: Duration? { compactMap(\.timeLeft).min() }
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
