package import Coordination
import Downloading

package struct ServiceStatistics: Sendable, Equatable {
    package struct Lane: Sendable, Equatable {
        package var threads: Int
        package var running: Int
        package var waiting: Int
        package var delay: Duration
    }

    package var activeDownloads, queuedDownloads, maximumDownloads: Int
    package var isActive: Bool
    package var activeRenders: Int
    package var decodes, renders: Int
    package var small, expensive: Lane
    package var memory: MemoryBudget.Statistics
    /// The caches in the documented order, disk caches last.
    package var caches: [NamedCache]
}

extension PipelineControl {
    package var statistics: ServiceStatistics {
        let downloader = pipeline.downloader
        let resources = pipeline.resources
        let counts = resources.metrics.counts
        let lanes = resources.lanes
        let small = lanes.small
        let expensive = lanes.expensive
        let limiter = lanes.expensiveLimiter
        return ServiceStatistics(
            activeDownloads: downloader.activeRequestCount, queuedDownloads: downloader.queuedRequestCount,
            maximumDownloads: downloader.maximumActiveRequestCount, isActive: downloader.isActive,
            activeRenders: lanes.runningCount, decodes: counts.decodes, renders: counts.renders,
            small: ServiceStatistics.Lane(
                threads: small.threadCount, running: small.runningCount, waiting: lanes.smallBacklog.count,
                delay: lanes.smallBacklog.delay),
            expensive: ServiceStatistics.Lane(
                threads: expensive.threadCount, running: limiter.runningCount, waiting: limiter.backlog.count,
                delay: limiter.backlog.delay),
            memory: resources.budget.statistics,
            caches: pipeline.caches.statistics)
    }
}
