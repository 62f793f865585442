import Coordination
package import Downloading
import ImageCaching
import SharedCaching
import Telemetry
package import Text

/// Passes what operators ask for and do to the parts of the pipeline.
package struct PipelineControl: ServiceControlling {
    let pipeline: ImagePipeline
    /// Tells of purges; nil if nobody is told.
    let notifier: Notifier?

    /// Shows and controls the parts of `pipeline`, and has `notifier` tell of purges.
    package init(of pipeline: ImagePipeline, telling notifier: Notifier? = nil) {
        self.pipeline = pipeline
        self.notifier = notifier
    }

    package var downloads: [FlightSnapshot] { pipeline.downloader.flights }

    package var origins: [OriginStatus] {
        let names = pipeline.downloader.namesOfOrigins
        return pipeline.downloader.originHealth.origins.map { OriginStatus($0, names: names[$0.origin] ?? []) }
    }

    package func removeAll() async throws -> RemovedEntries {
        try await removed(nil) {
            await $0.purgeEverything()
        } locally: {
            pipeline.downloader.forget()
            pipeline.broken.forget(nil)
            return await pipeline.caches.removedEverything()
        }
    }

    package func remove(source: ExactText) async throws -> RemovedEntries {
        let identity = try pipeline.downloader.identity(of: source)
        return try await removed(identity) {
            await $0.purge(identity, name: source)
        } locally: {
            pipeline.downloader.forget(identity)
            pipeline.broken.forget(identity)
            return await pipeline.caches.removedAll(from: identity)
        }
    }

    package var sharedCache: SharedCacheState? { pipeline.caches.tier.map { SharedCacheState($0) } }

    package var resultStore: SharedCacheState? { pipeline.caches.resultStore.map { SharedCacheState($0) } }

    /// Removes from this instance before and after what instances share: what comes from there in between goes, too.
    private func removed(
        _ identity: SourceIdentity?, _ purge: (SharedTier) async -> Bool, locally: () async -> RemovedEntries
    ) async throws -> RemovedEntries {
        var removed = await locally()
        defer {
            pipeline.resources.events.record(
                .purge(
                    url: identity?.name, entries: removed.entries, bytes: removed.bytes, cause: .operator))
        }
        guard !pipeline.caches.layers.isEmpty else {
            notifier?.tell(PurgeReport(url: identity?.name))
            return removed
        }
        let isPurged = await pipeline.caches.purged(purge)
        let rest = await locally()
        removed.entries += rest.entries
        removed.bytes += rest.bytes
        if !isPurged { throw PipelineError.tooManyPurges }
        // A cache in front that asks now gets nothing old.
        notifier?.tell(PurgeReport(url: identity?.name))
        return removed
    }

    package func cancel(receipt: String) -> Bool { pipeline.downloader.cancel(receipt: receipt) }
}
