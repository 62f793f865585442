import Coordination
import HTTPTypes
import Memory

struct OriginFetch {
    let action: ImageDownloader.State.StartAction
    /// The stored copy that the origin may confirm.
    let base: SourceCopy?
    let reason: OriginExchange.Reason
    let receiver: any SourceReceiver

    var condition: SourceCondition? { base.flatMap { SourceCondition($0.head) } }

    /// Returns the updated copy; nil if the 304 is for another version.
    func copy(confirmedBy confirmation: SourceConfirmation) -> SourceCopy? {
        guard let base, let head = base.head.confirmed(by: confirmation) else { return nil }
        receiver.refresh(head)
        return SourceCopy(head: head, bytes: base.bytes, exchange: exchange(status: 304, timings: confirmation.timings))
    }

    func exchange(status: Int, timings: TransferTimings) -> OriginExchange {
        OriginExchange(reason: reason, status: status, timings: timings, traceparent: action.request.traceparent)
    }
}

extension ImageDownloader {
    /// Requests the ranges that the scan needs, one after another, and the whole source if they do not suffice.
    ///
    /// Uses no range if the source changes during the fetch or the origin's ranges contradict each other.
    func fetchRanges(of fetch: OriginFetch, by scan: SourceScan) async throws -> FetchOutcome {
        let identity = fetch.action.request.identity
        let progress = fetch.action.progress
        let configuration = identity.rules.configuration
        let end = timekeeper.now + configuration.downloadTimeout
        var plan = RangePlan(maximumBytes: configuration.maximumBytes)
        var source: PartialSource?
        while true {
            let result: TransferResult
            do {
                progress.beginNextBody()
                let request = TransferRequest(
                    RequestedRange(bytes: plan.range, version: source?.version), of: identity,
                    condition: source == nil ? fetch.condition : nil,
                    traceparent: fetch.action.request.traceparent, timeLimit: end - timekeeper.now)
                result = try await loader.load(request, progress: progress)
            } catch DownloadError.unexpectedResponse, DownloadError.protocolError {
                return .insufficient(progress.receivedBytes)
            }
            switch result {
            case .source(let whole):
                var copy = try received(whole, by: fetch)
                copy.rangeBytes = source?.file.knownCount ?? 0
                return .fetched(copy)
            case .notModified(let confirmation):
                guard let copy = fetch.copy(confirmedBy: confirmation) else { return .insufficient(0) }
                return .fetched(copy)
            case .range(let range):
                if source == nil { source = PartialSource(range) } else { source?.add(range) }
            case .head: break
            }
            guard let known = source else { return .insufficient(progress.receivedBytes) }
            switch scan.need(known) {
            case .complete:
                if mayStore(fetch) { fetch.receiver.store(known) }
                let exchange = fetch.exchange(status: 206, timings: known.timings)
                return .fetched(SourceCopy(head: known.head, bytes: nil, ranges: known, exchange: exchange))
            case .ranges(let missing, let limit):
                if known.version != nil, plan.advance(to: missing, of: known.file, atMost: limit) { continue }
            case .block(let block):
                if known.version != nil, plan.advance(to: block, of: known.file) { continue }
            case .whole: break
            }
            return .insufficient(progress.receivedBytes)
        }
    }
}
