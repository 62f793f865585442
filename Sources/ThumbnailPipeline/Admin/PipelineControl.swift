import Coordination
package import Downloading
import SharedCaching
import Telemetry
package import Text
package import Webhooks

package struct PipelineControl: ServiceControlling {
    let pipeline: ImagePipeline
    /// Calls hooks and callbacks after purges and jobs; nil for none.
    let notifier: Notifier?
    private let accounts: TenantAccounts?

    package init(of pipeline: ImagePipeline, notifying notifier: Notifier? = nil, for accounts: TenantAccounts? = nil) {
        self.pipeline = pipeline
        self.notifier = notifier
        self.accounts = accounts
    }

    /// Whether there are tenants besides the default.
    var hasTenants: Bool { accounts?.all.contains { $0.flow != nil } ?? false }

    package var downloads: [FetchSnapshot] { pipeline.downloader.fetches }

    package var work: [WorkUsage.Entry] { pipeline.resources.metrics.usage.entries }

    package func waitingCount(of account: TenantAccount) -> Int? {
        account.flow.map(pipeline.resources.lanes.waitingCount)
    }

    package var origins: [OriginStatus] {
        let names = pipeline.downloader.namesOfOrigins
        return pipeline.downloader.originHealth.origins.map { OriginStatus($0, names: names[$0.origin] ?? []) }
    }

    package func setHeld(_ isHeld: Bool, origin: ExactText) throws -> OriginStatus {
        let key = try pipeline.downloader.origin(of: origin)
        pipeline.downloader.setHeld(isHeld, origin: key)
        let name = key.description
        return origins.first { $0.origin == name }
            ?? OriginStatus(
                origin: name, state: isHeld ? .held : .unknown, names: pipeline.downloader.namesOfOrigins[key] ?? [])
    }

    package func removeAll() async throws -> RemovedEntries {
        try await purge(nil, removal: .everything) {
            pipeline.downloader.forget()
            pipeline.failedDecodes.forget(nil)
            return await pipeline.caches.purgeLocal(.everything)
        }
    }

    package func remove(source: ExactText) async throws -> RemovedEntries {
        let identity = try pipeline.downloader.identity(of: source)
        return try await purge(identity, removal: .sources([identity], name: source)) {
            await remover.purge(identity)
        }
    }

    package func remove(tag: ExactText) async throws -> RemovedEntries {
        guard let shared = SharedTag(tag.string) else { return RemovedEntries() }
        var found = await remover.sources(under: tag)
        var removed = await purgeLocal(found.identities)
        var state = RemovalState.done
        if !pipeline.caches.shared.isEmpty {
            state = await purgeShared(shared, adding: &found)
            removed = removed + (await purgeLocal(found.identities))
        }
        removed.isComplete = found.isComplete && state == .done
        record(removed, tag: tag.string)
        if state == .rejected { throw PipelineError.tooManyPurges }
        notifier?.notify(CompletedPurge(sources: found.identities.map(\.name).sorted(), tags: [tag.string]))
        return removed
    }

    /// Purges the sources under a tag from the shared layers; adds the sources that only these know.
    private func purgeShared(_ tag: SharedTag, adding found: inout FoundSources) async -> RemovalState {
        let caches = pipeline.caches
        let collector = TaggedSourceCollector(remover, layers: caches.shared.count)
        let announced = SourceRemover.bounded(found.identities)
        var state = RemovalState.done
        if !found.identities.isEmpty { state = await caches.purgeShared(.sources(Array(announced.identities))) }
        state = max(state, await caches.purgeShared(.tagged(TagRemoval(of: tag, onSources: collector.add))))
        let collected = collector.finish()
        let others = collected.identities.subtracting(found.identities)
        // Another layer or instance may hold copies without knowing the tag.
        if !others.isEmpty { state = max(state, await caches.purgeShared(.sources(Array(others)))) }
        found.identities.formUnion(others)
        found.isComplete = found.isComplete && announced.isComplete && collected.isComplete
        return state
    }

    private func purgeLocal(_ identities: Set<SourceIdentity>) async -> RemovedEntries {
        var removed = RemovedEntries()
        for identity in identities { removed = removed + (await remover.purge(identity)) }
        return removed
    }

    private var remover: SourceRemover { SourceRemover(from: pipeline) }

    package var layers: [(name: String, state: LayerState)] {
        pipeline.caches.belowMemory.map { ($0.name.member, $0.health.state) }
    }

    /// Purges local layers twice, because lookups may copy values from the shared layers in between.
    private func purge(
        _ identity: SourceIdentity?, removal: Removal, locally: () async -> RemovedEntries
    ) async throws -> RemovedEntries {
        var removed = await locally()
        var state = RemovalState.done
        if !pipeline.caches.shared.isEmpty {
            state = await pipeline.caches.purgeShared(removal)
            removed = removed + (await locally())
        }
        removed.isComplete = state == .done
        record(removed, url: identity?.name)
        if state == .rejected { throw PipelineError.tooManyPurges }
        // From here on, caches in front receive no purged content.
        notifier?.notify(CompletedPurge(sources: identity.map { [$0.name] } ?? []))
        return removed
    }

    private func record(_ removed: RemovedEntries, url: String? = nil, tag: String? = nil) {
        pipeline.resources.events.record(
            .purge(url: url, tag: tag, entries: removed.entries, bytes: removed.bytes, cause: .operator))
    }

    package func cancel(receipt: String) -> Bool { pipeline.downloader.cancel(receipt: receipt) }
}

private final class TaggedSourceCollector: Sendable {
    private struct State {
        /// The sources reported so far; nil after ``finish()``.
        var sources: Set<SourceIdentity>? = []
        var incompleteLayers: Int
    }

    private let remover: SourceRemover
    private let state: Locked<State>

    init(_ remover: SourceRemover, layers: Int) {
        self.remover = remover
        state = Locked(State(incompleteLayers: layers))
    }

    /// Removes the sources from this instance if they arrive after ``finish()``.
    func add(_ sources: [NamedSource], isComplete: Bool) {
        let identities = sources.compactMap { remover.identity(named: $0.name) }
        let isLate = state.withLock { state in
            state.sources?.formUnion(identities)
            if isComplete { state.incompleteLayers -= 1 }
            return state.sources == nil
        }
        guard isLate else { return }
        for identity in identities { remover.forget(identity, cause: .operator) }
    }

    /// Returns the sources reported so far, and whether every layer reported all of its sources.
    func finish() -> FoundSources {
        state.withLock { state in
            defer { state.sources = nil }
            return FoundSources(identities: state.sources ?? [], isComplete: state.incompleteLayers <= 0)
        }
    }
}
