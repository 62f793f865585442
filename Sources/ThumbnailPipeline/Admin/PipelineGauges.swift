import Coordination
import Downloading
package import Telemetry

package struct PipelineGauges: Sendable {
    private let control: PipelineControl
    private let downloader: ImageDownloader
    private let caches: CacheLayers
    private let lanes: WorkLanes
    private let budget: MemoryBudget

    package init(of pipeline: ImagePipeline) {
        control = PipelineControl(of: pipeline)
        downloader = pipeline.downloader
        caches = pipeline.caches
        lanes = pipeline.resources.lanes
        budget = pipeline.resources.budget
    }

    package func register(in registry: MetricsRegistry) {
        registry.gauge(
            "alula_downloads_active", help: "Running transfers.",
            otlp: OTLPMetric("http.client.active_requests", unit: "{request}", isUpDownCounter: true)
        ) {
            [([], Double(downloader.activeRequestCount))]
        }
        registry.gauge("alula_downloads_queued", help: "Transfers waiting for a download slot.", counting: "transfer") {
            [([], Double(downloader.queuedRequestCount))]
        }
        registry.gauge("alula_queue_seconds", help: "Expected queue wait of a miss.") {
            [([], lanes.smallBacklog.delay.seconds)]
        }
        registry.gauge("alula_expensive_queue_seconds", help: "Expected queue wait of expensive work.") {
            [([], lanes.expensiveLimiter.backlog.delay.seconds)]
        }
        registry.gauge("alula_expensive_active", help: "Expensive tasks in progress.", counting: "piece") {
            [([], Double(lanes.expensiveLimiter.runningCount))]
        }
        registry.gauge("alula_active", help: "1 while downloads have been running for at least a second.") {
            [([], downloader.isActive ? 1 : 0)]
        }
        registerOrigins(in: registry)
        registerCaches(in: registry)
        registerMemory(in: registry)
    }

    private func registerMemory(in registry: MetricsRegistry) {
        registry.gauge("alula_memory_budget_bytes", help: "Memory limit for sources, pixels, results and work.") {
            [([], Double(budget.limit))]
        }
        registry.gauge("alula_memory_bytes", help: "Memory in use or reserved.", labels: "state") {
            let statistics = budget.statistics
            return [(["held"], Double(statistics.allocated)), (["reserved"], Double(statistics.reserved))]
        }
        registry.gauge("alula_memory_waiting", help: "Tasks waiting for memory.", counting: "piece") {
            [([], Double(budget.statistics.waiting))]
        }
        registry.observableCounter(
            "alula_memory_refusals_total", help: "Tasks that failed for lack of memory.", counting: "piece"
        ) {
            [([], Double(budget.statistics.rejections))]
        }
        registry.observableCounter(
            "alula_memory_purges_total", help: "Cache purges triggered by memory pressure.", labels: "step",
            counting: "purge"
        ) {
            let evictions = budget.statistics.evictions
            return MemoryBudget.Eviction.allCases.map { ([$0.rawValue], Double(evictions[$0, default: 0])) }
        }
    }

    private func registerOrigins(in registry: MetricsRegistry) {
        registry.gauge("alula_origins", help: "Recently used origins by state.", labels: "state", counting: "origin") {
            let states = control.origins.map(\.state)
            return OriginStatus.State.allCases.map { state in
                ([state.rawValue], Double(states.count { $0 == state }))
            }
        }
        registry.observableCounter(
            "alula_origin_suspensions_total", help: "Suspensions of origins.", counting: "suspension"
        ) {
            [([], Double(downloader.originHealth.suspensions))]
        }
    }

    private func registerCaches(in registry: MetricsRegistry) {
        func each(_ value: @escaping @Sendable (CacheStatistics) -> Int) -> MetricsRegistry.Reader {
            { caches.statistics.map { ([$0.name], Double(value($0.statistics))) } }
        }
        registry.gauge("alula_cache_bytes", help: "Size of the cache.", labels: "cache", read: each(\.usage.bytes))
        registry.gauge(
            "alula_cache_capacity_bytes", help: "Size above which a purge starts.", labels: "cache",
            read: each(\.usage.capacity))
        registry.gauge(
            "alula_cache_entries", help: "Number of cache entries.", labels: "cache", counting: "entry",
            read: each(\.usage.entries))
        registry.observableCounter(
            "alula_cache_evicted_bytes_total", help: "Bytes evicted by purges.", labels: "cache",
            read: each(\.evictedBytes))
        registry.observableCounter(
            "alula_cache_requests_total", help: "Cache lookups.", labels: "cache", "result", counting: "request"
        ) {
            caches.statistics.flatMap {
                [([$0.name, "hit"], Double($0.statistics.hits)), ([$0.name, "miss"], Double($0.statistics.misses))]
            }
        }
        registry.observableCounter(
            "alula_tags_dropped_total", help: "Tags dropped because a client sent too many.", counting: "tag"
        ) {
            [([], Double(caches.tagIndex.withLock(\.droppedCount)))]
        }
        for layer in caches.all { layer.register(in: registry) }
    }
}
