import Coordination
import Downloading
import ImageCaching
import SharedCaching
import Telemetry
package import Text

/// Passes what operators ask for and do to the parts of the pipeline.
package struct PipelineControl: ServiceControlling {
    let downloader: ImageDownloader
    let caches: PipelineCaches
    let resources: WorkResources
    /// Time that a request has.
    let requestTimeout: Duration
    let timekeeper: any Timekeeper
    private let broken: BrokenSources

    var lanes: WorkLanes { resources.lanes }

    /// Shows and controls the parts of `pipeline`.
    package init(of pipeline: ImagePipeline) {
        downloader = pipeline.downloader
        caches = pipeline.caches
        resources = pipeline.resources
        requestTimeout = pipeline.configuration.requestTimeout
        timekeeper = pipeline.timekeeper
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
                url: flight.source, host: flight.host, isRunning: flight.isRunning, receivedBytes: flight.receivedBytes,
                expectedBytes: flight.expectedBytes, ageSeconds: flight.age.seconds, receipts: flight.receipts)
        }
    }

    package var origins: [OriginStatus] {
        let names = downloader.namesOfOrigins
        return downloader.originHealth.origins.map { OriginStatus($0, names: names[$0.origin] ?? []) }
    }

    package func removeAll() async throws -> RemovedEntries {
        try await removed(nil) {
            await $0.purgeEverything()
        } locally: {
            downloader.forget()
            broken.forget(nil)
            return await caches.removedEverything()
        }
    }

    package func remove(source: ExactText) async throws -> RemovedEntries {
        let identity = try downloader.identity(of: source)
        return try await removed(identity) {
            await $0.purge(identity, name: source)
        } locally: {
            downloader.forget(identity)
            broken.forget(identity)
            return await caches.removedAll(from: identity)
        }
    }

    package var sharedCache: SharedCacheState? {
        caches.tier.map { SharedCacheState(rawValue: $0.store.statistics.state) ?? .down }
    }

    /// Removes from this instance before and after the shared cache: what comes from there in between goes, too.
    private func removed(
        _ identity: SourceIdentity?, _ purge: (SharedTier) async -> Bool, locally: () async -> RemovedEntries
    ) async throws -> RemovedEntries {
        var removed = await locally()
        defer {
            resources.events.record(
                .purge(
                    url: identity?.name, entries: removed.entries, bytes: removed.bytes, cause: .operator))
        }
        guard let tier = caches.tier else { return removed }
        let isPurged = await purge(tier)
        let rest = await locally()
        removed.entries += rest.entries
        removed.bytes += rest.bytes
        if !isPurged { throw PipelineError.tooManyPurges }
        return removed
    }

    package func cancel(receipt: String) -> Bool { downloader.cancel(receipt: receipt) }
}
