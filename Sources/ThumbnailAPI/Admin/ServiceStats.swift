package import Coordination
package import JSON
import Telemetry
package import ThumbnailPipeline

/// Counts begin with the process, so that a reader that misses figures can still compute differences.
package struct ServiceStats: Sendable {
    private let control: any ServiceControlling
    private let metrics: APIMetrics
    private let lifecycle: ServiceLifecycle
    private let timekeeper: any Timekeeper
    private let calls: @Sendable () -> [Notifier.Figures]?

    package init(
        control: any ServiceControlling, metrics: APIMetrics, lifecycle: ServiceLifecycle, timekeeper: any Timekeeper,
        calls: @escaping @Sendable () -> [Notifier.Figures]? = { nil }
    ) {
        self.calls = calls
        self.control = control
        self.metrics = metrics
        self.lifecycle = lifecycle
        self.timekeeper = timekeeper
    }

    package var json: JSONValue {
        let figures = control.figures
        let origins = control.origins
        let sample = sample(of: figures)
        let members: [(String, JSONValue)] = [
            ("uptimeSeconds", .int(Int((sample.time - lifecycle.startedAt).components.seconds))),
            ("draining", .bool(!lifecycle.isReady)),
            ("active", .bool(figures.isActive)),
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
                    ("maximum", .int(figures.maximumDownloads)),
                ])
            ),
            ("workers", .object([("small", .lane(figures.small)), ("expensive", .lane(figures.expensive))])),
            (
                "memory",
                .object([
                    ("limit", .int(figures.memory.limit)), ("held", .int(sample.heldMemory)),
                    ("reserved", .int(sample.reservedMemory)), ("waiting", .int(figures.memory.waiting)),
                ])
            ),
            ("caches", .object(figures.caches.map { ($0.name, .cache($0.figures)) })),
            ("originCounts", .originCounts(origins)), ("origins", .worstOrigins(origins)),
        ]
        return .object(members + JSONValue.surroundings(control, calls()))
    }

    /// Cheaper than ``json``, whose size depends on the number of origins.
    package var sample: StatsSample { sample(of: control.figures) }

    private func sample(of figures: ServiceFigures) -> StatsSample {
        let results = figures.caches.first { $0.name == "result" }?.figures
        let responses = metrics.requests.snapshot.map { (status: $0.labels[1], count: $0.value) }
        func count(_ prefix: String) -> Int {
            responses.reduce(0) { $0 + ($1.status.hasPrefix(prefix) ? $1.count : 0) }
        }
        return StatsSample(
            time: timekeeper.now, requests: count(""), clientErrors: count("4"), errors: count("5"),
            hits: results?.hits ?? 0, misses: results?.misses ?? 0, decodes: figures.decodes, renders: figures.renders,
            activeDownloads: figures.activeDownloads, queuedDownloads: figures.queuedDownloads,
            heldMemory: figures.memory.living, reservedMemory: figures.memory.reserved,
            smallDelay: figures.small.delay, expensiveDelay: figures.expensive.delay)
    }
}

extension JSONValue {
    fileprivate static func lane(_ lane: ServiceFigures.Lane) -> JSONValue {
        .object([
            ("threads", .int(lane.threads)), ("running", .int(lane.running)), ("waiting", .int(lane.waiting)),
            ("delaySeconds", .double(lane.delay.seconds)),
        ])
    }

    fileprivate static func cache(_ figures: CacheFigures) -> JSONValue {
        .object([
            ("bytes", .int(figures.usage.bytes)), ("capacity", .int(figures.usage.capacity)),
            ("preferred", .int(figures.usage.preferred)), ("entries", .int(figures.usage.entries)),
            ("hits", .int(figures.hits)), ("misses", .int(figures.misses)),
            ("evictedBytes", .int(figures.evictedBytes)),
        ])
    }
}
