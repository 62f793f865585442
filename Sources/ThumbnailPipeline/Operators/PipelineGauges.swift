import Coordination
import DiskCaching
import Downloading
import SharedCaching
package import Telemetry

/// Metrics read from the pipeline's parts at each scrape: caches, current downloads, activity.
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
            otlp: OTLPMetric("http.client.active_requests", unit: "{request}", isSum: true)
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
            [([], lanes.turns.backlog.delay.seconds)]
        }
        registry.gauge("alula_expensive_active", help: "Expensive tasks in progress.", counting: "piece") {
            [([], Double(lanes.turns.turnCount))]
        }
        registry.gauge("alula_active", help: "1 while the service is busy.") {
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
            return [(["held"], Double(statistics.living)), (["reserved"], Double(statistics.reserved))]
        }
        registry.gauge("alula_memory_waiting", help: "Tasks waiting for memory.", counting: "piece") {
            [([], Double(budget.statistics.waiting))]
        }
        registry.gauge(
            "alula_memory_refusals_total", help: "Tasks that failed for lack of memory.", counting: "piece",
            isCounter: true
        ) {
            [([], Double(budget.statistics.refusals))]
        }
        registry.gauge(
            "alula_memory_purges_total", help: "Purges for lack of memory by cache.", labels: "step",
            counting: "purge",
            isCounter: true
        ) {
            let purges = budget.statistics.purges
            return MemoryBudget.Purge.allCases.map { ([$0.rawValue], Double(purges[$0, default: 0])) }
        }
    }

    private func registerOrigins(in registry: MetricsRegistry) {
        registry.gauge(
            "alula_origins", help: "Recently used origins by state.", labels: "state",
            counting: "origin"
        ) {
            let states = control.origins.map(\.state)
            return OriginStatus.State.allCases.map { state in
                ([state.rawValue], Double(states.count { $0 == state }))
            }
        }
        registry.gauge(
            "alula_origin_suspensions_total", help: "Suspensions of origins.", counting: "suspension", isCounter: true
        ) {
            [([], Double(downloader.originHealth.suspensions))]
        }
    }

    private func registerCaches(in registry: MetricsRegistry) {
        func each(_ value: @escaping @Sendable (CacheFigures) -> Int) -> MetricsRegistry.Reader {
            { caches.figures.map { ([$0.name], Double(value($0.figures))) } }
        }
        registry.gauge("alula_cache_bytes", help: "Bytes in use.", labels: "cache", read: each(\.usage.bytes))
        registry.gauge(
            "alula_cache_capacity_bytes", help: "Size above which a purge starts.", labels: "cache",
            read: each(\.usage.capacity))
        registry.gauge(
            "alula_cache_entries", help: "Entries.", labels: "cache", counting: "entry", read: each(\.usage.entries))
        registry.gauge(
            "alula_cache_evicted_bytes_total", help: "Bytes evicted by purges.", labels: "cache", isCounter: true,
            read: each(\.evictedBytes))
        registry.gauge(
            "alula_cache_requests_total", help: "Lookups.", labels: "cache", "result", counting: "request",
            isCounter: true
        ) {
            caches.figures.flatMap {
                [([$0.name, "hit"], Double($0.figures.hits)), ([$0.name, "miss"], Double($0.figures.misses))]
            }
        }
        registry.gauge(
            "alula_tags_dropped_total", help: "Tags dropped because a client sent too many.",
            counting: "tag", isCounter: true
        ) {
            [([], Double(caches.tagIndex.withLock(\.droppedCount)))]
        }
        if let store = caches.disk?.store { registerDisk(store, in: registry) }
        if let store = caches.sharedCache?.store {
            registerShared(store, "shared cache", "alula_shared_cache", in: registry)
        }
        if let store = caches.resultStore?.store {
            registerShared(store, "result store", "alula_result_store", in: registry)
        }
    }

    private func registerShared(
        _ store: SharedStore, _ what: String, _ prefix: String, in registry: MetricsRegistry
    ) {
        registry.gauge("\(prefix)_up", help: "1 while the \(what) works.") {
            [([], store.isUp ? 1 : 0)]
        }
        registry.gauge("\(prefix)_full", help: "1 while the \(what) is full.") {
            [([], store.statistics.isFull ? 1 : 0)]
        }
        registry.gauge(
            "\(prefix)_requests_total", help: "Lookups in the \(what).", labels: "result", counting: "request",
            isCounter: true
        ) {
            let requests = store.statistics.requests
            return SharedStoreStatistics.Result.allCases.map { ([$0.rawValue], Double(requests[$0, default: 0])) }
        }
        registry.gauge(
            "\(prefix)_queue_bytes", help: "Size of unconfirmed writes to the \(what)."
        ) {
            [([], Double(store.statistics.values.bytes))]
        }
        registry.gauge(
            "\(prefix)_writes_total", help: "Confirmed writes to the \(what).", counting: "write", isCounter: true
        ) {
            [([], Double(store.statistics.values.written))]
        }
        registry.gauge(
            "\(prefix)_dropped_total", help: "Dropped writes to the \(what).", counting: "write",
            isCounter: true
        ) {
            [([], Double(store.statistics.values.dropped))]
        }
        registry.gauge(
            "\(prefix)_dropped_tags_total", help: "Dropped tags for the \(what).", counting: "tag",
            isCounter: true
        ) {
            [([], Double(store.statistics.tags.dropped))]
        }
    }

    private func registerDisk(_ store: DiskStore, in registry: MetricsRegistry) {
        registry.gauge(
            "alula_disk_cache_working", help: "1 while the disk cache works."
        ) {
            [([], store.statistics.isWorking ? 1 : 0)]
        }
        registry.gauge("alula_disk_cache_full", help: "1 while the disk is full and the cache read-only.") {
            [([], store.statistics.isFull ? 1 : 0)]
        }
        registry.gauge("alula_disk_cache_tag_bytes", help: "Size of source tags, outside the cache shares.") {
            [([], Double(store.statistics.tagUsage))]
        }
        registry.gauge("alula_disk_cache_note_bytes", help: "Size of saved prefetch jobs, outside the cache shares.") {
            [([], Double(store.statistics.noteUsage))]
        }
        registry.gauge(
            "alula_disk_cache_failures_total", help: "Disk cache failures.", labels: "kind",
            counting: "failure",
            isCounter: true
        ) {
            let statistics = store.statistics
            return [
                (["file"], Double(statistics.failures)), (["full_disk"], Double(statistics.fullDisks)),
                (["damaged_file"], Double(statistics.damagedFiles)),
                (["lost_file"], Double(statistics.lostFiles)),
                (["damaged_entry"], Double(statistics.damagedEntries)),
                (["dropped_write"], Double(statistics.droppedWrites)),
            ]
        }
    }
}
