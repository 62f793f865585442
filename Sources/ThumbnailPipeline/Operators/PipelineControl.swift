import Coordination
import Downloading
import ImageCaching
package import Text

/// Passes what operators ask for and do to the parts of the pipeline.
package struct PipelineControl: ServiceControlling {
    private let downloader: ImageDownloader
    private let caches: PipelineCaches
    private let lanes: WorkLanes
    private let broken: BrokenSources

    /// Shows and controls the parts of `pipeline`.
    package init(of pipeline: ImagePipeline) {
        downloader = pipeline.downloader
        caches = pipeline.caches
        lanes = pipeline.resources.lanes
        broken = pipeline.broken
    }

    package var activity: ServiceActivity {
        ServiceActivity(
            activeDownloads: downloader.activeRequestCount, queuedDownloads: downloader.queuedRequestCount,
            activeRenders: lanes.runningCount)
    }

    package var cacheUsage: [(name: String, usage: CacheUsage)] {
        caches.figures.map { ($0.name, $0.figures.usage) }
    }

    package var downloads: [DownloadStatus] {
        downloader.flights.map { flight in
            DownloadStatus(
                url: flight.url, host: flight.host, isRunning: flight.isRunning, receivedBytes: flight.receivedBytes,
                expectedBytes: flight.expectedBytes, ageSeconds: flight.age.seconds, receipts: flight.receipts)
        }
    }

    package var origins: [OriginStatus] {
        downloader.originHealth.origins.map { origin in
            let state: OriginStatus.State =
                origin.isSuspended
                ? .suspended : origin.isReachable.map { $0 ? .reachable : .notReachable } ?? .unknown
            return OriginStatus(
                origin: origin.origin.description, state: state, retryAfterSeconds: origin.retryAfter?.seconds)
        }
    }

    package func removeAll() async -> RemovedEntries {
        downloader.forget()
        broken.forget(nil)
        return await caches.removedEverything()
    }

    package func remove(source: ExactText) async throws -> RemovedEntries {
        let identity = try downloader.identity(of: source)
        downloader.forget(identity)
        broken.forget(identity)
        return await caches.removedAll(from: identity)
    }

    package func cancel(receipt: String) -> Bool { downloader.cancel(receipt: receipt) }
}
