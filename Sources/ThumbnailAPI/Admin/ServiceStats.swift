package import Coordination
package import JSON
import Telemetry
package import ThumbnailPipeline
package import Webhooks

/// Counters start at zero with the process, so that readers that miss samples can still compute differences.
package struct ServiceStats: Sendable {
    private let control: any ServiceControlling
    private let metrics: APIMetrics
    private let lifecycle: ServiceLifecycle
    private let timekeeper: any Timekeeper
    private let calls: @Sendable () -> [Notifier.Statistics]?

    package init(
        control: any ServiceControlling, metrics: APIMetrics, lifecycle: ServiceLifecycle, timekeeper: any Timekeeper,
        calls: @escaping @Sendable () -> [Notifier.Statistics]? = { nil }
    ) {
        self.calls = calls
        self.control = control
        self.metrics = metrics
        self.lifecycle = lifecycle
        self.timekeeper = timekeeper
    }

    package var json: JSONValue {
        let statistics = control.statistics
        let origins = control.origins
        let sample = sample(of: statistics)
        let members: [(String, JSONValue)] = [
            ("uptimeSeconds", .int(Int((sample.time - lifecycle.startedAt).components.seconds))),
            ("draining", .bool(!lifecycle.isReady)),
            ("active", .bool(statistics.isActive)),
            ("requests", .int(sample.requests)),
            ("clientErrors", .int(sample.clientErrors)),
            ("errors", .int(sample.errors)),
            ("hits", .int(sample.hits)),
            ("misses", .int(sample.misses)),
            ("decodes", .int(sample.decodes)),
            ("renders", .int(sample.renders)),
            (
                "downloads",
                .object([
                    ("active", .int(sample.activeDownloads)), ("queued", .int(sample.queuedDownloads)),
                    ("maximum", .int(statistics.maximumDownloads)),
                ])
            ),
            ("workers", .object([("small", .lane(statistics.small)), ("expensive", .lane(statistics.expensive))])),
            (
                "memory",
                .object([
                    ("limit", .int(statistics.memory.limit)), ("held", .int(sample.heldMemory)),
                    ("reserved", .int(sample.reservedMemory)), ("waiting", .int(statistics.memory.waiting)),
                ])
            ),
            ("caches", .object(statistics.caches.map { ($0.name, .cache($0.statistics)) })),
            ("originCounts", .originCounts(origins)), ("origins", .worstOrigins(origins)),
        ]
        return .object(members + JSONValue.externalState(control, calls: calls()))
    }

    /// A sample; faster than ``json``, whose size depends on the number of origins.
    package var sample: StatsSample { sample(of: control.statistics) }

    private func sample(of statistics: ServiceStatistics) -> StatsSample {
        let results = statistics.caches.first { $0.name == "result" }?.statistics
        let responses = metrics.requests.snapshot.map { (status: $0.labels[1], count: $0.value) }
        func count(_ prefix: String) -> Int {
            responses.reduce(0) { $0 + ($1.status.hasPrefix(prefix) ? $1.count : 0) }
        }
        return StatsSample(
            time: timekeeper.now, requests: count(""), clientErrors: count("4"), errors: count("5"),
            hits: results?.hits ?? 0, misses: results?.misses ?? 0, decodes: statistics.decodes,
            renders: statistics.renders,
            activeDownloads: statistics.activeDownloads, queuedDownloads: statistics.queuedDownloads,
            heldMemory: statistics.memory.allocated, reservedMemory: statistics.memory.reserved,
            smallDelay: statistics.small.delay, expensiveDelay: statistics.expensive.delay)
    }
}

extension JSONValue {
    fileprivate static func lane(_ lane: ServiceStatistics.Lane) -> JSONValue {
        .object([
            ("threads", .int(lane.threads)), ("running", .int(lane.running)), ("waiting", .int(lane.waiting)),
            ("delaySeconds", .double(lane.delay.seconds)),
        ])
    }

    fileprivate static func cache(_ statistics: CacheStatistics) -> JSONValue {
        .object([
            ("bytes", .int(statistics.usage.bytes)), ("capacity", .int(statistics.usage.capacity)),
            ("preferred", .int(statistics.usage.preferred)), ("entries", .int(statistics.usage.entries)),
            ("hits", .int(statistics.hits)), ("misses", .int(statistics.misses)),
            ("evictedBytes", .int(statistics.evictedBytes)),
        ])
    }
}
