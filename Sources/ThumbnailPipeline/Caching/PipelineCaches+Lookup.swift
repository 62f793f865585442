import Coordination
package import Downloading
import HTTPTypes
import ImageCaching
import Memory
import Telemetry
import ThumbnailTypes

/// Lookups of sources below memory.
extension PipelineCaches {
    /// Looks up a source below memory; a source that is found, fresh or stale, is in memory when this returns.
    package func retrieve(_ identity: SourceIdentity) async -> Source? {
        guard let record = await restoredRecord(for: identity), let bytes = await layers.bytes(of: record),
            isCurrent(record)
        else { return nil }
        memory.sources.add(SourceBody(validator: record.validator, bytes: bytes), for: SourceKey(source: identity))
        return Source(head: record.head, bytes: bytes)
    }

    /// Returns the record of a source, fresh or stale, from memory or else the disk.
    func restoredRecord(for identity: SourceIdentity) async -> SourceRecord? {
        await restoredRecord(for: identity, in: layers.own, LayerAllowances())
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
        let isAsked = look?.hasAskedForRecord == true
        return await restoredRecord(
            for: identity, in: isAsked ? layers.all.filter { $0.name != .shared } : layers.all, allowances)
    }

    private func restoredRecord(
        for identity: SourceIdentity, in layers: [any CacheLayer], _ allowances: LayerAllowances
    ) async -> SourceRecord? {
        var known = knownRecord(for: identity)
        for layer in layers where mayImprove(known) && known.map(layer.mayImprove) != false {
            let ticket = changes.withLock { $0.begin(identity) }
            defer { changes.withLock { $0.end(ticket) } }
            let begun = timekeeper.now
            let reply = await layer.lookup(.record(identity), allowances)
            let found = reply.record(of: identity)
            trace(reply, of: layer, since: begun, isHit: found != nil)
            known = adopt(found, known, since: ticket, of: identity)
        }
        return known
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

    /// Returns whether another instance may have newer information on a source.
    func mayImprove(_ known: SourceRecord?) -> Bool {
        known?.freshness.isFresh(at: timekeeper.secondsSince1970) != true && known?.incompleteUntil == nil
    }

    /// Stores a layer's record of a source in memory if it is newer than the known one; returns the newer record.
    func adopt(
        _ found: SourceRecord?, _ known: SourceRecord?, since ticket: SourceChanges.Ticket,
        of identity: SourceIdentity
    ) -> SourceRecord? {
        guard let found else { return known }
        guard changes.withLock({ $0.isUnchanged(since: ticket) }) else { return knownRecord(for: identity) }
        if let known = known ?? knownRecord(for: identity) {
            guard found.head.receivedAt.secondsSince1970 > known.head.receivedAt.secondsSince1970 else { return known }
            // Another instance has fetched it again meanwhile.
            if known.validator != found.validator {
                _ = memory.removeMade(from: identity)
                layers.forgetOwn(identity)
            }
        }
        return keep(found, since: ticket) ? found : nil
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

    /// Records a wait for a shared layer, if the current request is traced.
    func trace(_ reply: LayerReply, of layer: any CacheLayer, since begun: Duration, isHit: Bool) {
        guard reply.wasAsked, let name = layer.name.status?.rawValue else { return }
        RequestTrace.current?.record(
            "lookup", .client, time: begun..<max(begun, timekeeper.now),
            attributes: [("alula.layer", .string(name)), ("alula.found", .bool(isHit))])
    }
}
