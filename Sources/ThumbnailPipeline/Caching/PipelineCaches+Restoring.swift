import Coordination
package import Downloading
import HTTPTypes
import ImageCaching
import Memory
import SharedCaching
import Telemetry
import ThumbnailTypes

/// Lookups in the layers below memory: the local disk, the shared cache, and the result store.
extension PipelineCaches {
    /// Looks up a source below memory; a source that is found, fresh or stale, is in memory when this returns.
    package func retrieve(_ identity: SourceIdentity) async -> Source? {
        guard let record = await restoredRecord(for: identity), let bytes = await restoredBytes(of: record),
            isCurrent(record)
        else { return nil }
        memory.sources.add(SourceBody(validator: record.validator, bytes: bytes), for: SourceKey(source: identity))
        return Source(head: record.head, bytes: bytes)
    }

    private func restoredBytes(of record: SourceRecord) async -> SharedBytes? {
        if let bytes = await disk?.bytes(of: record) { return bytes }
        return await tier?.bytes(of: record, WaitAllowance())
    }

    /// Returns the record of a source, fresh or stale, from memory or else the disk; if it is not fresh, also queries
    /// the shared layers.
    ///
    /// - Parameters:
    ///   - identity: The source.
    ///   - allowances: The time that the request has waited for these layers.
    ///   - look: The request's earlier lookup in the shared cache.
    func restoredRecord(
        for identity: SourceIdentity, _ allowances: LayerAllowances, after look: EarlierLook? = nil
    ) async -> SourceRecord? {
        var known = await restoredRecord(for: identity)
        for layer in layers where mayImprove(known) && layer.mayImprove(known) {
            if layer.layer == .cache, look?.hasAskedForRecord == true { continue }
            let ticket = changes.withLock { $0.begin(identity) }
            defer { changes.withLock { $0.end(ticket) } }
            let begun = timekeeper.now
            let found = await layer.record(of: identity, allowances[layer.layer])
            if found.wasAsked { trace(layer, since: begun, isHit: found.value != nil) }
            known = adopt(found.value, known, since: ticket, of: identity)
        }
        return known
    }

    /// Returns whether another instance may have newer information on a source.
    func mayImprove(_ known: SourceRecord?) -> Bool {
        known?.freshness.isFresh(at: timekeeper.secondsSince1970) != true && known?.incompleteUntil == nil
    }

    /// Stores a shared layer's record of a source if it is newer than the local one; returns the newer record.
    func adopt(
        _ found: SourceRecord?, _ known: SourceRecord?, since ticket: SourceChanges.Ticket,
        of identity: SourceIdentity
    ) -> SourceRecord? {
        guard let found else { return known }
        guard changes.withLock({ $0.isUnchanged(since: ticket) }) else { return knownRecord(for: identity) }
        if let known {
            guard found.head.receivedAt.secondsSince1970 > known.head.receivedAt.secondsSince1970 else { return known }
            // Another instance has fetched it again meanwhile.
            if known.validator != found.validator {
                _ = memory.removeMade(from: identity)
                disk?.removeAll(from: identity)
            }
        }
        return keep(found, since: ticket) ? found : nil
    }

    /// Returns the record of a source, fresh or stale, from memory or else the disk.
    func restoredRecord(for identity: SourceIdentity) async -> SourceRecord? {
        if let known = knownRecord(for: identity) { return known }
        guard let disk else { return nil }
        let ticket = changes.withLock { $0.begin(identity) }
        defer { changes.withLock { $0.end(ticket) } }
        guard let found = await disk.record(of: identity) else { return nil }
        return knownRecord(for: identity) ?? (keep(found, since: ticket) ? found : nil)
    }

    /// Stores a record read from another layer, unless its source has changed since the read began.
    func keep(_ record: SourceRecord, since ticket: SourceChanges.Ticket) -> Bool {
        guard changes.withLock({ $0.isUnchanged(since: ticket) }) else { return false }
        memory.keep(record)
        if changes.withLock({ $0.isUnchanged(since: ticket) }) { return true }
        // A removal or a newer version came in between: a missing record is better than an outdated one.
        memory.records.remove(SourceKey(source: record.identity))
        return false
    }

    /// Returns the records of the sources, as ``restoredRecord(for:_:after:)`` does.
    func restoredRecords(
        for sources: PerSource<SourceIdentity>, _ allowances: LayerAllowances, after look: EarlierLook?
    ) async -> PerSource<SourceRecord?> {
        var records = PerSource(await restoredRecord(for: sources.image, allowances, after: look))
        for identity in sources.additional {
            records.additional.append(await restoredRecord(for: identity, allowances))
        }
        return records
    }

    /// Records a wait for a shared layer, if the current request is traced.
    private func trace(_ layer: SharedTier, since begun: Duration, isHit: Bool) {
        RequestTrace.current?.record(
            "lookup", .client, time: begun..<max(begun, timekeeper.now),
            attributes: [
                ("alula.layer", .string(layer.layer.status.rawValue)), ("alula.found", .bool(isHit)),
            ])
    }

    /// A result from below memory.
    struct RestoredResult {
        var result: RenderedImage?
        var isStored = false
        var shared: [CacheLayerStatus] = []
    }

    /// Returns a result from the disk, the shared cache or the result store; it is also in memory when this returns.
    func restoredResult(
        for key: ResultKey, of records: PerSource<SourceRecord>, _ allowances: LayerAllowances, after look: EarlierLook?
    ) async -> RestoredResult {
        var restored = RestoredResult()
        restored.result = await disk?.result(for: key)
        for layer in layers where restored.result == nil && isCurrent(records) {
            let found: SharedTier.Found<RenderedImage>
            if let known = look?.result(for: key, by: layer) {
                found = known
            } else {
                let begun = timekeeper.now
                found = await layer.result(for: key, allowances[layer.layer])
                if found.wasAsked { trace(layer, since: begun, isHit: found.value != nil) }
            }
            restored.result = found.value
            guard found.wasAsked else { continue }
            restored.shared.append(CacheLayerStatus(layer.layer.status, found.value == nil ? .uriMiss : .hit))
            if layer.layer == .store, let result = found.value { shareInCache(result, for: key, of: records) }
        }
        guard let result = restored.result else { return restored }
        restored.isStored = memory.keep(result, for: key, while: { self.isCurrent(records) }, in: memory.results)
        return restored
    }
}
