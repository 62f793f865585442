import Coordination
package import Downloading
import Memory
import Telemetry

/// The caches as the downloader sees them: the life of a source, from its fetch to its removal.
package struct CachedSources: SourceCaching {
    private let caches: CacheLayers
    /// The generations under which a fetch began.
    private var generations: LayerGenerations = [:]

    package init(_ caches: CacheLayers) { self.caches = caches }

    /// Returns the record of a source, with its bytes if they are in memory.
    package func stored(for identity: SourceIdentity) -> SourceCopy? {
        guard let record = caches.knownRecord(for: identity) else {
            caches.countMissedSource(identity)
            return nil
        }
        return SourceCopy(head: record.head, bytes: caches.bytes(of: record))
    }

    package func isImage(_ source: Source) -> Bool { (try? SourceRecord(source.head, bytes: source.bytes)) != nil }

    package var hasSlowerLayer: Bool { caches.slower.contains(where: \.holdsSources) }

    package func retrieve(_ identity: SourceIdentity) async -> SourceCopy? {
        await caches.restoredSource(for: identity)
    }

    /// Records the generations of a source whose fetch begins now.
    package func beginFetch(of identity: SourceIdentity) -> any SourceReceiver {
        var begun = self
        begun.generations = caches.beginning(of: identity)
        return begun
    }

    /// Stores a fetched source if its image has a readable header and its origin permits shared caching.
    ///
    /// If its bytes have changed, everything derived from the old ones is removed.
    package func store(_ source: Source) {
        caches.noteChange(of: source.identity)
        let old = caches.storedRecord(for: source.identity)
        let found = try? SourceRecord(source.head, bytes: source.bytes, under: generations)
        // If one target of a source returns something other than an image, images from other targets of the source are
        // unaffected.
        if found == nil, source.identity.sharesTargets { return }
        guard source.head.freshness.storability == .shared, let record = found else {
            withdraw(source.identity, isKnown: old != nil, cause: .notStorable)
            return
        }
        // A truncated source may be complete next time under the same entity tag.
        if let old, old.validator != record.validator || old.incompleteUntil != nil {
            caches.removeAll(from: source.identity, cause: .changed)
        }
        caches.store(record, bytes: source.bytes)
        caches.noteTags(of: source.identity)
    }

    /// Replaces the record of a source confirmed by its origin; removes entries that may no longer be stored.
    package func refresh(_ head: SourceHead) {
        caches.noteChange(of: head.identity)
        guard head.freshness.storability == .shared else {
            caches.forgetShared(head.identity, isKnown: true)
            caches.removeAll(from: head.identity, cause: .notStorable)
            return
        }
        guard let old = caches.storedRecord(for: head.identity), old.validator == head.validator else { return }
        let record = SourceRecord(head, of: old, incompleteUntil: old.incompleteUntil, under: generations)
        caches.store(record)
        if record.incompleteUntil == nil { caches.noteTags(of: head.identity) }
    }

    /// Removes a source deleted at its origin, and everything derived from it.
    package func remove(_ identity: SourceIdentity) {
        withdraw(identity, isKnown: caches.knownRecord(for: identity) != nil, cause: .gone)
    }

    /// Removes a source that may not be stored and everything derived from it.
    private func withdraw(_ identity: SourceIdentity, isKnown: Bool, cause: PurgeCause) {
        caches.forgetShared(identity, isKnown: isKnown)
        if isKnown || !caches.slowerOwn.isEmpty { caches.removeAll(from: identity, cause: cause) }
    }
}
