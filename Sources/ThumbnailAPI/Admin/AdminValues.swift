import Coordination
import Downloading
import JSON
import Prefetching
import ThumbnailPipeline
import ThumbnailTypes
import Webhooks

extension JSONValue {
    static func cacheUsage(_ usage: CacheUsage) -> JSONValue {
        .object([
            ("bytes", .int(usage.bytes)), ("capacity", .int(usage.capacity)), ("preferred", .int(usage.preferred)),
            ("entries", .int(usage.entries)),
        ])
    }

    static func removedEntries(_ removed: RemovedEntries) -> JSONValue {
        .object([
            ("entries", .int(removed.entries)), ("bytes", .int(removed.bytes)),
            ("complete", .bool(removed.isComplete)),
        ])
    }

    static func canceledDownloads(_ canceled: CanceledDownloads) -> JSONValue {
        .object([("downloads", .int(canceled.downloads)), ("receipts", .int(canceled.callers))])
    }

    static func refresh(_ refresh: SourceRefresh, of source: String) -> JSONValue {
        var members: [(String, JSONValue)] = [("url", .string(source)), ("result", .string(refresh.result.rawValue))]
        if let failure = refresh.failure {
            members += [("code", .string(failure.code)), ("detail", .string(failure.operatorMessage))]
        }
        return .object(members)
    }

    /// The state of the disk cache, the shared caches, and the calls of hooks and callbacks.
    static func externalState(
        _ control: any ServiceControlling, calls: [Notifier.Statistics]?
    ) -> [(String, JSONValue)] {
        var members = control.layers.map { ($0.name, JSONValue.object([("state", .string($0.state.rawValue))])) }
        if let calls { members.append(("outgoingCalls", .calls(calls))) }
        return members
    }

    private static func calls(_ statistics: [Notifier.Statistics]) -> JSONValue {
        .object(
            statistics.map { statistics in
                let counts = CallOutcome.allCases.map {
                    ($0.rawValue, JSONValue.int(statistics.counts[$0, default: 0]))
                }
                return (statistics.kind.rawValue, .object([("waiting", .int(statistics.waiting))] + counts))
            })
    }

    static func prefetchJob(_ job: PrefetchJob) -> JSONValue {
        .object([("id", .string(job.id)), ("survivesRestart", .bool(job.survivesRestart))])
    }

    static func prefetchStatus(_ status: PrefetchStatus, of id: String) -> JSONValue {
        .object(
            progress(status, of: id) + [
                ("failures", .array(status.failures.map { .prefetchFailure($0) })),
                ("results", .array(status.results.map { .prefetchResult($0) })),
            ])
    }

    static func prefetchJobs(_ jobs: [(id: String, status: PrefetchStatus)]) -> JSONValue {
        .object([("jobs", .array(jobs.map { .object(progress($0.status, of: $0.id)) }))])
    }

    private static func progress(_ status: PrefetchStatus, of id: String) -> [(String, JSONValue)] {
        [
            ("id", .string(id)), ("state", .string(status.state.rawValue)), ("total", .int(status.total)),
            ("done", .int(status.done)), ("failed", .int(status.failed)), ("left", .int(status.left)),
        ]
    }

    private static func prefetchResult(_ result: PrefetchResult) -> JSONValue {
        .object([("url", .string(result.source)), ("target", .string(result.target))] + stored(result.stored))
    }

    private static func prefetchFailure(_ failure: PrefetchFailure) -> JSONValue {
        .object([
            ("url", .string(failure.source)), ("target", .string(failure.target)), ("code", .string(failure.code)),
            ("detail", .string(failure.reason)),
        ])
    }

    static func origin(_ origin: OriginStatus) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("origin", .string(origin.origin)), ("state", .string(origin.state.rawValue)),
            ("retryAfterSeconds", origin.retryAfterSeconds.map { .double($0) } ?? .null),
        ]
        if let cause = origin.cause { members.append(("cause", .string(cause))) }
        if !origin.names.isEmpty { members.append(("names", .array(origin.names.map { .string($0) }))) }
        return .object(members)
    }

    static func download(_ download: FetchSnapshot) -> JSONValue {
        .object([
            ("url", .string(download.source)), ("host", .string(download.host)),
            ("state", .string(download.isRunning ? "running" : "queued")),
            ("receivedBytes", .int(download.receivedBytes)),
            ("expectedBytes", download.expectedBytes.map { .int($0) } ?? .null),
            ("ageSeconds", .double(download.age.seconds)),
            ("receipts", .array(download.receipts.map { .string($0) })),
        ])
    }
}

extension JSONValue {
    private static let maximumOrigins = 50

    static func originCounts(_ origins: [OriginStatus]) -> JSONValue {
        .object(
            OriginStatus.State.allCases.map { state in
                (state.rawValue, .int(origins.count { $0.state == state }))
            })
    }

    /// Lists paused origins first, then suspended, unreachable and other ones.
    ///
    /// Within a state, origins that clients cannot have invented come first.
    static func worstOrigins(_ origins: [OriginStatus]) -> JSONValue {
        let troubled: [OriginStatus.State] = [.held, .suspended, .notReachable]
        var listed: [OriginStatus] = []
        for isProven in [true, false] {
            for state in troubled { listed += origins.filter { $0.state == state && $0.isProven == isProven } }
        }
        for state in [OriginStatus.State.reachable, .unknown] { listed += origins.filter { $0.state == state } }
        return .array(listed.prefix(maximumOrigins).map(JSONValue.origin))
    }
}
