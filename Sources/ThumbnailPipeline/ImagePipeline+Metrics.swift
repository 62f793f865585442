import Downloading
import ImageCaching
package import Telemetry

extension ImagePipeline {
    /// Registers what is read from the parts at each scrape: caches, downloads under way, activity.
    package func register(in registry: MetricsRegistry) {
        registry.gauge("alula_downloads_active", help: "Running transfers.") {
            [([], Double(self.activity.activeDownloads))]
        }
        registry.gauge("alula_downloads_queued", help: "Transfers waiting for a slot.") {
            [([], Double(self.activity.queuedDownloads))]
        }
        registry.gauge("alula_active", help: "1 while work visibly goes on.") {
            [([], self.downloader.isActive ? 1 : 0)]
        }
        registerOrigins(in: registry)
        registerCaches(in: registry)
    }

    private func registerOrigins(in registry: MetricsRegistry) {
        registry.gauge("alula_origins", help: "Origins asked lately, by what is known of them.", labels: "state") {
            let states = self.origins.map(\.state)
            return OriginStatus.State.allCases.map { state in
                ([state.rawValue], Double(states.count { $0 == state }))
            }
        }
        registry.gauge("alula_origin_suspensions_total", help: "Suspensions of origins.", isCounter: true) {
            [([], Double(self.downloader.originHealth.suspensions))]
        }
    }

    private func registerCaches(in registry: MetricsRegistry) {
        func each(_ value: @escaping @Sendable (CacheStatistics) -> Int) -> MetricsRegistry.Reader {
            { self.caches.statistics.map { ([$0.name], Double(value($0.statistics))) } }
        }
        registry.gauge("alula_cache_bytes", help: "Bytes in use.", labels: "cache", read: each(\.usage))
        registry.gauge(
            "alula_cache_capacity_bytes", help: "Bytes above which a purge begins.", labels: "cache",
            read: each(\.capacity))
        registry.gauge("alula_cache_entries", help: "Entries.", labels: "cache", read: each(\.entries))
        registry.gauge(
            "alula_cache_evicted_bytes_total", help: "Bytes taken by purges.", labels: "cache", isCounter: true,
            read: each(\.evictedBytes))
        registry.gauge(
            "alula_cache_requests_total", help: "Look-ups.", labels: "cache", "result", isCounter: true
        ) {
            self.caches.statistics.flatMap {
                [([$0.name, "hit"], Double($0.statistics.hits)), ([$0.name, "miss"], Double($0.statistics.misses))]
            }
        }
    }
}
