import Coordination
package import Downloading
import HTTPTypes
import ImageCaching
import Memory
import SharedCaching

/// Looks below memory: on the disk of this machine, and in the cache that all instances share.
extension PipelineCaches {
    /// Looks for a source below memory; if it is found, it is in memory as well when this returns, fresh or stale.
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

    /// The record of a source, fresh or stale, from memory or else the disk; if that one is not fresh, the shared cache
    /// is asked as well.
    ///
    /// - Parameter allowance: The time that the request has waited for the shared cache.
    func restoredRecord(for identity: SourceIdentity, _ allowance: WaitAllowance) async -> SourceRecord? {
        let known = await restoredRecord(for: identity)
        guard let tier, mayImprove(known) else { return known }
        let ticket = changes.withLock { $0.begin(identity) }
        defer { changes.withLock { $0.end(ticket) } }
        return adopt(await tier.record(of: identity, allowance).value, known, since: ticket, of: identity)
    }

    /// Whether the shared cache may know more of a source than this instance.
    func mayImprove(_ known: SourceRecord?) -> Bool {
        known?.freshness.isFresh(at: timekeeper.secondsSince1970) != true && known?.incompleteUntil == nil
    }

    /// Keeps the shared cache's record of a source if it is newer than this instance's; returns the newer one.
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

    /// The record of a source, fresh or stale, from memory or else from the disk.
    func restoredRecord(for identity: SourceIdentity) async -> SourceRecord? {
        if let known = knownRecord(for: identity) { return known }
        guard let disk else { return nil }
        let ticket = changes.withLock { $0.begin(identity) }
        defer { changes.withLock { $0.end(ticket) } }
        guard let found = await disk.record(of: identity) else { return nil }
        return knownRecord(for: identity) ?? (keep(found, since: ticket) ? found : nil)
    }

    /// Keeps a record that was read elsewhere, unless its source has changed since the reading began.
    func keep(_ record: SourceRecord, since ticket: SourceChanges.Ticket) -> Bool {
        guard changes.withLock({ $0.isUnchanged(since: ticket) }) else { return false }
        memory.keep(record)
        if changes.withLock({ $0.isUnchanged(since: ticket) }) { return true }
        // A removal or a newer version came in between: nothing is better than what it removed.
        memory.records.remove(SourceKey(source: record.identity))
        return false
    }

    /// The records of the sources, each as by ``restoredRecord(for:)``.
    func restoredRecords(
        for sources: PerSource<SourceIdentity>, _ allowance: WaitAllowance
    ) async -> PerSource<SourceRecord?> {
        var records = PerSource(await restoredRecord(for: sources.image, allowance))
        for identity in sources.additional {
            records.additional.append(await restoredRecord(for: identity, allowance))
        }
        return records
    }

    /// A result from below memory.
    struct RestoredResult {
        var result: RenderedImage?
        /// Whether it is in memory now.
        var isStored = false
        /// The shared cache's answer; nil if it was not asked.
        var shared: CacheLayerStatus?
    }

    /// A result from the disk, or else from the shared cache, which is in memory as well when this returns.
    func restoredResult(
        for key: ResultKey, of records: PerSource<SourceRecord>, _ allowance: WaitAllowance, after look: EarlierLook?
    ) async -> RestoredResult {
        var restored = RestoredResult()
        restored.result = await disk?.result(for: key)
        if restored.result == nil, let tier, isCurrent(records) {
            let found: SharedTier.Found<RenderedImage>
            if let known = look?.result(for: key, by: tier) {
                found = known
            } else {
                found = await tier.result(for: key, allowance)
            }
            restored.result = found.value
            if found.wasAsked { restored.shared = CacheLayerStatus(.shared, found.value == nil ? .uriMiss : .hit) }
        }
        guard let result = restored.result else { return restored }
        restored.isStored = memory.keep(result, for: key, while: { self.isCurrent(records) }, in: memory.results)
        return restored
    }
}
