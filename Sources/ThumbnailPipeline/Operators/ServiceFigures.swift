package import Coordination
import Downloading

/// The service's figures at one moment.
package struct ServiceFigures: Sendable, Equatable {
    /// The threads of one lane of work.
    package struct Lane: Sendable, Equatable {
        package var threads: Int
        /// Pieces of work that are being done.
        package var running: Int
        /// Pieces of work that wait for a thread or a turn.
        package var waiting: Int
        /// How long new work would wait.
        package var delay: Duration
    }

    /// Transfers that run, that wait, and the most that may run.
    package var activeDownloads, queuedDownloads, maximumDownloads: Int
    /// Whether downloads show as activity.
    package var isActive: Bool
    /// Decodes and renders on the threads.
    package var activeRenders: Int
    /// Sources decoded and results rendered since the start.
    package var decodes, renders: Int
    /// The threads of small and of dear work.
    package var small, dear: Lane
    /// The memory budget; sizes in bytes.
    package var memory: MemoryBudget.Statistics
    /// The caches by name, in the contract's order, those on the disk last.
    package var caches: [NamedCache]

    /// A cache with its name.
    package struct NamedCache: Sendable, Equatable {
        package var name: String
        package var figures: CacheFigures
    }
}

extension PipelineControl {
    package var figures: ServiceFigures {
        let (downloader, caches, resources) = (pipeline.downloader, pipeline.caches, pipeline.resources)
        let (counts, lanes) = (resources.metrics.counts, resources.lanes)
        let (small, dear, turns) = (lanes.small, lanes.dear, lanes.turns)
        return ServiceFigures(
            activeDownloads: downloader.activeRequestCount, queuedDownloads: downloader.queuedRequestCount,
            maximumDownloads: downloader.maximumActiveRequestCount, isActive: downloader.isActive,
            activeRenders: lanes.runningCount, decodes: counts.decodes, renders: counts.renders,
            small: ServiceFigures.Lane(
                threads: small.threadCount, running: small.runningCount, waiting: lanes.smallBacklog.count,
                delay: lanes.smallBacklog.delay),
            dear: ServiceFigures.Lane(
                threads: dear.threadCount, running: turns.turnCount, waiting: turns.backlog.count,
                delay: turns.backlog.delay),
            memory: resources.budget.statistics,
            caches: caches.figures.map { ServiceFigures.NamedCache(name: $0.name, figures: $0.figures) })
    }
}
