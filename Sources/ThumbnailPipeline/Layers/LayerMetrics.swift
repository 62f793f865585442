import DiskCaching
import SharedCaching
import Telemetry

extension DiskLayer {
    func register(in registry: MetricsRegistry) {
        registry.gauge("alula_disk_cache_working", help: "1 while the disk cache works.") {
            [([], store.statistics.isWorking ? 1 : 0)]
        }
        registry.gauge("alula_disk_cache_full", help: "1 while the disk is full and the cache read-only.") {
            [([], store.statistics.isFull ? 1 : 0)]
        }
        registry.gauge("alula_disk_cache_tag_bytes", help: "Size of tags on disk, besides cache capacities.") {
            [([], Double(store.statistics.tagUsage))]
        }
        registry.gauge("alula_disk_cache_note_bytes", help: "Size of prefetch jobs, besides cache capacities.") {
            [([], Double(store.statistics.noteUsage))]
        }
        registry.observableCounter(
            "alula_disk_cache_failures_total", help: "Disk cache failures.", labels: "kind", counting: "failure"
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

extension SharedLayer {
    func register(in registry: MetricsRegistry) {
        let store = store
        let label = name.words
        let prefix = "alula_" + label.split(separator: " ").joined(separator: "_")
        func count(_ suffix: String, help: String, counting unit: String, _ value: @escaping @Sendable () -> Int) {
            registry.observableCounter(prefix + suffix, help: help, counting: unit) { [([], Double(value()))] }
        }
        registry.gauge("\(prefix)_up", help: "1 while the \(label) works.") {
            [([], store.isUp ? 1 : 0)]
        }
        registry.gauge("\(prefix)_full", help: "1 while the \(label) is full.") {
            [([], store.statistics.isFull ? 1 : 0)]
        }
        registry.observableCounter(
            "\(prefix)_requests_total", help: "Lookups in the \(label).", labels: "result", counting: "request"
        ) {
            let requests = store.statistics.requests
            return SharedStoreStatistics.Result.allCases.map { ([$0.rawValue], Double(requests[$0, default: 0])) }
        }
        registry.gauge("\(prefix)_queue_bytes", help: "Bytes queued for writing to the \(label).") {
            [([], Double(store.statistics.values.bytes))]
        }
        count("_writes_total", help: "Confirmed writes to the \(label).", counting: "write") {
            store.statistics.values.written
        }
        count("_dropped_total", help: "Dropped writes to the \(label).", counting: "write") {
            store.statistics.values.dropped
        }
        count("_dropped_tags_total", help: "Dropped tags for the \(label).", counting: "tag") {
            store.statistics.tags.dropped
        }
    }
}
