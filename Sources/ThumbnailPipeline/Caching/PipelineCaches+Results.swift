import Coordination
import Downloading
import ImageCaching
import ThumbnailTypes

/// Lookups and writes of results below memory.
extension PipelineCaches {
    /// A result from below memory.
    struct RestoredResult {
        var result: RenderedImage?
        /// Whether it is in memory now.
        var isStored = false
        /// The results of the shared layers that were queried.
        var shared: [CacheLayerStatus] = []
    }

    /// Returns a result from the first layer that has it; it is also in memory and in the shared layers before when
    /// this returns.
    func restoredResult(
        for key: ResultKey, of records: PerSource<SourceRecord>, _ allowances: LayerAllowances, after look: EarlierLook?
    ) async -> RestoredResult {
        var restored = RestoredResult()
        for layer in layers.all where layer.name == .disk || isCurrent(records) {
            let begun = timekeeper.now
            let earlier = look?.reply(for: key, in: layer)
            let reply = if let earlier { earlier } else { await layer.lookup(.result(key), allowances) }
            restored.result = reply.result(for: key)
            if earlier == nil { trace(reply, of: layer, since: begun, isHit: restored.result != nil) }
            if let status = layer.name.status, reply.wasAsked {
                restored.shared.append(CacheLayerStatus(status, restored.result == nil ? .uriMiss : .hit))
            }
            guard let result = restored.result else { continue }
            for faster in layers.shared where faster.name < layer.name {
                share(result, for: key, of: records, in: faster)
            }
            restored.isStored = memory.keep(result, for: key, while: { self.isCurrent(records) }, in: memory.results)
            break
        }
        return restored
    }

    /// Stores a result in memory and in all layers while its sources are current; returns whether memory or the disk
    /// admitted it, and the shared layers in which it is being stored.
    func keep(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>
    ) -> (isStored: Bool, shared: [LayerName]) {
        var isStored = memory.keep(result, for: key, while: { self.isCurrent(records) }, in: memory.results)
        var shared: [LayerName] = []
        for layer in layers.all where !result.isIncomplete && isCurrent(records) {
            if layer.name != .disk {
                if share(result, for: key, of: records, in: layer) { shared.append(layer.name) }
            } else if layers.store(result.value, for: .result(key), of: records, in: layer) {
                isStored = true
                // As in memory: this check detects a removal that cleared the disk before the result was added.
                for record in records where !isCurrent(record) { layers.forgetOwn(record.identity) }
            }
        }
        return (isStored, shared)
    }

    /// Stores a result in a shared layer while its sources are current; returns whether the write was started.
    ///
    /// If a source was fetched while the shared cache was unreachable, or was found in the result store, the result is
    /// stored there later.
    @discardableResult
    private func share(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        guard isCurrent(records) else { return false }
        let unknown = records.filter { $0.generations[layer.name] == nil }
        guard !unknown.isEmpty, let cache = layers.cache, layer.name == cache.name else {
            return layers.store(result.value, for: .result(key), of: records, in: layer)
        }
        guard cache.isUp, cache.mayHold(.result(key)) else { return false }
        Task.detached { [self] in
            for record in unknown { await adopt(record, cache) }
            let now = records.mapValues { self.knownRecord(for: $0.identity) }
            guard let current = now.complete(), isCurrent(records) else { return }
            layers.store(result.value, for: .result(key), of: current, in: cache)
        }
        return false
    }

    /// Assigns generations to a source if it is still current once all purges are known; then it can be shared.
    private func adopt(_ record: SourceRecord, _ cache: SharedLayer) async {
        let identity = record.identity
        let isFirst = adopted.withLock { sources in
            sources.count < Self.maximumAdoptions && sources.insert(identity).inserted
        }
        guard isFirst else { return }
        defer { adopted.withLock { _ = $0.remove(identity) } }
        let ticket = changes.withLock { $0.begin(identity) }
        defer { changes.withLock { $0.end(ticket) } }
        guard let known = knownRecord(for: identity), known.generations.shared == nil, known.incompleteUntil == nil,
            let generations = await cache.adoption(of: identity)
        else { return }
        let adopted = SourceRecord(known.head, of: known, under: LayerGenerations(generations, of: cache.name))
        if keep(adopted, since: ticket) { layers.store(adopted, in: cache) }
    }

    private static let maximumAdoptions = 256
}
