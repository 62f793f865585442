import Coordination
import Downloading
import JSON
import ThumbnailPipeline
import ThumbnailTypes

extension JSONValue {
    /// The usage of a cache.
    static func cacheUsage(_ usage: CacheUsage) -> JSONValue {
        .object([
            ("bytes", .int(usage.bytes)), ("capacity", .int(usage.capacity)), ("preferred", .int(usage.preferred)),
            ("entries", .int(usage.entries)),
        ])
    }

    /// The entries that a removal removed.
    static func removedEntries(_ removed: RemovedEntries) -> JSONValue {
        .object([
            ("entries", .int(removed.entries)), ("bytes", .int(removed.bytes)),
            ("complete", .bool(removed.isComplete)),
        ])
    }

    /// The downloads that were cancelled.
    static func cancelledDownloads(_ cancelled: CancelledDownloads) -> JSONValue {
        .object([("downloads", .int(cancelled.downloads)), ("receipts", .int(cancelled.callers))])
    }

    /// The result of asking the origin of a source.
    static func refresh(_ refresh: SourceRefresh, of source: String) -> JSONValue {
        var members: [(String, JSONValue)] = [("url", .string(source)), ("result", .string(refresh.result.rawValue))]
        if let failure = refresh.failure {
            members += [("code", .string(failure.code)), ("detail", .string(failure.operatorMessage))]
        }
        return .object(members)
    }

    /// The members about what stands beside the instance, as far as there is any of it: the disk cache, what instances
    /// share, and the calls of hooks and callbacks.
    static func surroundings(
        _ control: any ServiceControlling, _ calls: [Notifier.Figures]?
    ) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = []
        let states = [
            ("diskCache", control.diskCache), ("sharedCache", control.sharedCache),
            ("resultStore", control.resultStore),
        ]
        for (name, state) in states {
            if let state { members.append((name, .object([("state", .string(state.rawValue))]))) }
        }
        if let calls { members.append(("outgoingCalls", .calls(calls))) }
        return members
    }

    /// The calls of hooks and callbacks.
    private static func calls(_ figures: [Notifier.Figures]) -> JSONValue {
        .object(
            figures.map { figures in
                let counts = CallOutcome.allCases.map { ($0.rawValue, JSONValue.int(figures.counts[$0, default: 0])) }
                return (figures.kind.rawValue, .object([("waiting", .int(figures.waiting))] + counts))
            })
    }

    /// A job that has begun.
    static func prefetchJob(_ job: PrefetchJob) -> JSONValue {
        .object([("id", .string(job.id)), ("survivesRestart", .bool(job.survivesRestart))])
    }

    /// The progress of a job.
    static func prefetchStatus(_ status: PrefetchStatus, of id: String) -> JSONValue {
        .object([
            ("id", .string(id)), ("state", .string(status.state.rawValue)),
            ("total", .int(status.total)), ("done", .int(status.done)), ("failed", .int(status.failed)),
            ("left", .int(status.left)), ("failures", .array(status.failures.map { .prefetchFailure($0) })),
            ("results", .array(status.results.map { .prefetchResult($0) })),
        ])
    }

    private static func prefetchResult(_ result: PrefetchResult) -> JSONValue {
        .object([("url", .string(result.source)), ("target", .string(result.target))] + placed(result.placed))
    }

    private static func prefetchFailure(_ failure: PrefetchFailure) -> JSONValue {
        .object([
            ("url", .string(failure.source)), ("target", .string(failure.target)), ("code", .string(failure.code)),
            ("detail", .string(failure.reason)),
        ])
    }

    /// The health of an origin.
    static func origin(_ origin: OriginStatus) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("origin", .string(origin.origin)), ("state", .string(origin.state.rawValue)),
            ("retryAfterSeconds", origin.retryAfterSeconds.map { .double($0) } ?? .null),
        ]
        if !origin.names.isEmpty { members.append(("names", .array(origin.names.map { .string($0) }))) }
        return .object(members)
    }

    /// The figures of one transfer.
    static func download(_ download: FlightSnapshot) -> JSONValue {
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

/// Origins as operators see them: how many there are, and those that are worst off.
extension JSONValue {
    /// Most origins that are listed.
    private static let mostOrigins = 50

    /// The number of origins in each state.
    static func originCounts(_ origins: [OriginStatus]) -> JSONValue {
        .object(
            OriginStatus.State.allCases.map { state in
                (state.rawValue, .int(origins.count { $0.state == state }))
            })
    }

    /// As many origins as are listed: first suspended ones, then those that are not reachable, then the others.
    ///
    /// In each state, those come first that no client can have made up.
    static func worstOrigins(_ origins: [OriginStatus]) -> JSONValue {
        let troubled: [OriginStatus.State] = [.suspended, .notReachable]
        var listed: [OriginStatus] = []
        for isProven in [true, false] {
            for state in troubled { listed += origins.filter { $0.state == state && $0.isProven == isProven } }
        }
        for state in [OriginStatus.State.reachable, .unknown] { listed += origins.filter { $0.state == state } }
        return .array(listed.prefix(mostOrigins).map(JSONValue.origin))
    }
}
