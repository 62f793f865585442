import Coordination
package import Downloading
import ImageCaching
import SharedCaching
import Telemetry
import ThumbnailTypes

/// The caches' operations on the shared layers.
extension PipelineCaches {
    /// Records the generations of a source whose fetch begins now.
    package func beginFetch(of identity: SourceIdentity) -> any SourceKeeping {
        guard !layers.isEmpty else { return self }
        let known = knownRecord(for: identity)
        return FetchBeginning(
            caches: self,
            generations: layers.reduce(LayerGenerations()) { generations, layer in
                generations.filled(
                    from: LayerGenerations(layer.beginning(of: identity, known: known), of: layer.layer))
            })
    }

    /// Removes a source that may not be stored and everything derived from it, also from the shared layers if it may be
    /// there.
    ///
    /// A removal costs the result store an object, so it is sent only for sources known here.
    func withdraw(_ identity: SourceIdentity, known: SourceRecord?, cause: PurgeCause) {
        for layer in layers
        where known != nil || layer.layer == .cache && layer.beginning(of: identity, known: nil) != nil {
            layer.forget(identity)
        }
        if known != nil || disk != nil { removeAll(from: identity, cause: cause) }
    }

    /// Shares a result while all its sources are current; returns the layers in which it is being stored.
    func share(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>
    ) -> [SharedTier.Layer] {
        var tried: [SharedTier.Layer] = []
        if shareInCache(result, for: key, of: records) { tried.append(.cache) }
        if let resultStore, isCurrent(records), resultStore.keep(result, for: key, of: records) { tried.append(.store) }
        return tried
    }

    /// Stores a result in the shared cache while all its sources are current; returns whether the write was started.
    ///
    /// If a source was fetched while the shared cache was unreachable, or was found in the result store, the result is
    /// stored later.
    @discardableResult
    func shareInCache(_ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>) -> Bool {
        guard let tier, isCurrent(records) else { return false }
        if records.allSatisfy({ $0.generations.cache != nil }) { return tier.keep(result, for: key, of: records) }
        guard tier.isUp, !records.contains(where: \.identity.isGiven) else { return false }
        Task.detached { [self] in
            for record in records where record.generations.cache == nil { await adopt(record, tier) }
            let now = records.mapValues { self.knownRecord(for: $0.identity) }
            guard let current = now.complete(), isCurrent(records) else { return }
            _ = tier.keep(result, for: key, of: current)
        }
        return false
    }

    /// Assigns generations to a source if it is still current once all purges are known; then it can be shared.
    private func adopt(_ record: SourceRecord, _ tier: SharedTier) async {
        let identity = record.identity
        let isFirst = adopted.withLock { sources in
            sources.count < Self.mostAdoptions && sources.insert(identity).inserted
        }
        guard isFirst else { return }
        defer { adopted.withLock { _ = $0.remove(identity) } }
        let ticket = changes.withLock { $0.begin(identity) }
        defer { changes.withLock { $0.end(ticket) } }
        guard let known = knownRecord(for: identity), known.generations.cache == nil, known.incompleteUntil == nil,
            let generations = await tier.adoption(of: identity)
        else { return }
        let adopted = SourceRecord(known.head, of: known, under: LayerGenerations(cache: generations))
        if keep(adopted, since: ticket) { tier.keep(adopted) }
    }

    /// Invalidates something in the shared layers; returns the least advanced state of these removals.
    ///
    /// The last layer comes first, because lookups copy from it into earlier ones.
    func purged(_ purge: (SharedTier) async -> RemovalState) async -> RemovalState {
        var state = RemovalState.done
        for layer in layers.reversed() { state = max(state, await purge(layer)) }
        return state
    }

    private static let mostAdoptions = 256
}

extension SharedTier.Layer {
    /// The name in `Cache-Status`.
    var status: CacheLayerStatus.Layer { self == .cache ? .shared : .store }
}
