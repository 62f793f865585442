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
            await $0.purge([identity], name: source)
        } locally: {
            await removal.removedAll(from: identity)
        }
    }

    /// Removes what this instance, the disk, and what instances share know under the tag, each from all of them.
    package func remove(tag: ExactText) async throws -> RemovedEntries {
        guard let shared = SharedTag(tag.string) else { return RemovedEntries() }
        var known = await removal.sources(under: tag)
        var removed = await removedAll(from: known)
        let found = FoundSources(removal)
        var isPurged = true
        if !pipeline.caches.layers.isEmpty {
            if !known.isEmpty { isPurged = await pipeline.caches.purged { [known] in await $0.purge(known) } }
            if await !pipeline.caches.purged({ await $0.purge(shared, found: found.add) }) { isPurged = false }
            let others = found.take().subtracting(known)
            // The other layer, and other instances, may have them without knowing the tag.
            if !others.isEmpty, await !pipeline.caches.purged({ await $0.purge(others) }) { isPurged = false }
            known.formUnion(others)
            removed = removed + (await removedAll(from: known))
        }
        pipeline.resources.events.record(
            .purge(
                url: nil, tag: tag.string, entries: removed.entries, bytes: removed.bytes, cause: .operator))
        if !isPurged { throw PipelineError.tooManyPurges }
        notifier?.tell(PurgeNews(sources: known.map(\.name).sorted(), tags: [tag.string]))
        return removed
    }

    private func removedAll(from identities: Set<SourceIdentity>) async -> RemovedEntries {
        var removed = RemovedEntries()
        for identity in identities { removed = removed + (await removal.removedAll(from: identity)) }
        return removed
    }

    private var removal: SourceRemoval { SourceRemoval(from: pipeline) }

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
            notifier?.tell(PurgeNews(sources: identity.map { [$0.name] } ?? []))
            return removed
        }
        let isPurged = await pipeline.caches.purged(purge)
        let rest = await locally()
        removed.entries += rest.entries
        removed.bytes += rest.bytes
        if !isPurged { throw PipelineError.tooManyPurges }
        // A cache in front that asks now gets nothing old.
        notifier?.tell(PurgeNews(sources: identity.map { [$0.name] } ?? []))
        return removed
    }

    package func cancel(receipt: String) -> Bool { pipeline.downloader.cancel(receipt: receipt) }
}

/// The sources that places know under a tag that is purged.
private final class FoundSources: Sendable {
    private let removal: SourceRemoval
    /// Nil when nobody waits for them any more.
    private let sources = Locked<Set<SourceIdentity>?>([])

    init(_ removal: SourceRemoval) {
        self.removal = removal
    }

    /// Takes sources that a place has made unreadable; those that come late are removed here at once.
    func add(_ found: [NamedSource]) {
        let identities = found.compactMap { removal.identity(named: $0.name) }
        let isLate = sources.withLock { sources in
            sources?.formUnion(identities)
            return sources == nil
        }
        guard isLate else { return }
        for identity in identities { removal.removeAll(from: identity, cause: .operator) }
    }

    func take() -> Set<SourceIdentity> {
        sources.withLock { sources in
            defer { sources = nil }
            return sources ?? []
        }
    }
}
