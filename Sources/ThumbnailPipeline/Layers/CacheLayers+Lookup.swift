import Coordination
import Downloading
import HTTPTypes
import Memory
import Telemetry
import ThumbnailTypes

/// Lookups in all layers; a value that is found is in the faster layers when they return.
extension CacheLayers {
    /// Returns the record of a source, fresh or stale, from memory or else the disk; if it is not fresh, also queries
    /// the shared layers.
    ///
    /// - Parameters:
    ///   - identity: The source.
    ///   - allowances: The time that the request has waited for the shared layers; nil leaves them out.
    ///   - earlier: The request's earlier lookup in the shared cache.
    func restoredRecord(
        for identity: SourceIdentity, _ allowances: LayerAllowances? = nil, after earlier: EarlierLookup? = nil
    ) async -> SourceRecord? {
        var known = knownRecord(for: identity)
        for layer in slower where mayHaveNewer(known) && known.map(layer.mayHaveNewer) != false {
            guard !layer.name.isShared || allowances != nil, layer.name != .shared || earlier?.hasQueriedRecord != true
            else { continue }
            let ticket = changes.withLock { $0.begin(identity) }
            defer { changes.withLock { $0.end(ticket) } }
            let found = await lookup(.record(identity), in: layer, allowances ?? LayerAllowances()).value?.record
            known = adopt(found, known, since: ticket, of: identity)
        }
        return known
    }

    /// Returns the records of the sources, as ``restoredRecord(for:_:after:)`` does.
    func restoredRecords(
        for sources: PerSource<SourceIdentity>, _ allowances: LayerAllowances, after earlier: EarlierLookup?
    ) async -> PerSource<SourceRecord?> {
        var records = PerSource(await restoredRecord(for: sources.image, allowances, after: earlier))
        for identity in sources.additional {
            records.additional.append(await restoredRecord(for: identity, allowances))
        }
        return records
    }

    /// Returns whether another layer may have newer information on a source.
    func mayHaveNewer(_ known: SourceRecord?) -> Bool {
        known?.freshness.isFresh(at: timekeeper.secondsSince1970) != true && known?.incompleteUntil == nil
    }

    /// Returns a source from below memory, fresh or stale.
    func restoredSource(for identity: SourceIdentity) async -> SourceCopy? {
        guard let record = await restoredRecord(for: identity) else { return nil }
        for layer in slower where layer.holdsSources {
            let key = CacheKey.source(record.version)
            guard let value = await layer.lookup(key, LayerAllowances()).value, let bytes = value.source else {
                continue
            }
            guard isCurrent(record) else { return nil }
            store(value, for: key, of: PerSource(record), in: memory)
            return SourceCopy(head: record.head, bytes: bytes)
        }
        return nil
    }

    /// A result from below memory.
    struct RestoredResult {
        var result: RenderedImage?
        /// Whether it is in memory now.
        var isStored = false
        /// The results of the shared layers that were queried.
        var shared: [CacheLayerStatus] = []
    }

    /// Returns a result from the first layer below memory that has it; the disk is not filled.
    func restoredResult(
        for key: ResultKey, of records: PerSource<SourceRecord>, _ allowances: LayerAllowances,
        after earlier: EarlierLookup?
    ) async -> RestoredResult {
        var restored = RestoredResult()
        for layer in slower where layer.name == .disk || isCurrent(records) {
            let reply =
                if let reply = earlier?.reply(of: layer.name, for: key) { reply } else {
                    await lookup(.result(key), in: layer, allowances)
                }
            restored.result = reply.value?.result
            if let status = layer.name.status, reply.wasQueried {
                restored.shared.append(CacheLayerStatus(status, restored.result == nil ? .uriMiss : .hit))
            }
            guard let result = restored.result else { continue }
            for faster in shared where faster.name < layer.name {
                store(result, for: key, of: records, in: faster)
            }
            restored.isStored = store(result, for: key, of: records, in: memory)
            break
        }
        return restored
    }

    /// Looks a value up in a layer; a wait for a server is a part of the request's trace.
    private func lookup(
        _ key: CacheKey, in layer: any CacheLayer, _ allowances: LayerAllowances
    ) async -> LayerReply {
        let begun = timekeeper.now
        let reply = await layer.lookup(key, allowances)
        if reply.wasQueried, let name = layer.name.status?.rawValue {
            RequestTrace.current?.record(
                "lookup", .client, time: begun..<max(begun, timekeeper.now),
                attributes: [("alula.layer", .string(name)), ("alula.found", .bool(reply.value != nil))])
        }
        return reply
    }

    // MARK: Records of other instances

    /// Stores a layer's record of a source in memory if it is newer than the known one; returns the newer record.
    func adopt(
        _ found: SourceRecord?, _ known: SourceRecord?, since ticket: ChangeTracker<SourceIdentity>.Ticket,
        of identity: SourceIdentity
    ) -> SourceRecord? {
        guard let found else { return known }
        guard changes.withLock({ $0.isUnchanged(since: ticket) }) else { return knownRecord(for: identity) }
        if let known = known ?? knownRecord(for: identity) {
            guard found.head.receivedAt.secondsSince1970 > known.head.receivedAt.secondsSince1970 else { return known }
            // Another instance has fetched it again meanwhile.
            if known.validator != found.validator {
                memory.removeDerived(from: identity)
                disk?.forget([identity])
            }
        }
        return adopt(found, since: ticket) ? found : nil
    }

    /// Stores a record read from another layer in memory, unless its source has changed since the read began.
    func adopt(_ record: SourceRecord, since ticket: ChangeTracker<SourceIdentity>.Ticket) -> Bool {
        let key = CacheKey.record(record.identity)
        guard changes.withLock({ $0.isUnchanged(since: ticket) }) else { return false }
        memory.store(.record(record), for: key, of: PerSource(record))
        if changes.withLock({ $0.isUnchanged(since: ticket) }) { return true }
        // A removal or a newer version came in between: a missing record is better than an outdated one.
        memory.remove(key)
        return false
    }
}
