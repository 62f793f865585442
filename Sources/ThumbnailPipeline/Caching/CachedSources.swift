import Coordination
package import Downloading
import Memory
import Telemetry

package struct CachedSources: SourceCaching {
    private let caches: CacheLayers
    private var generations: LayerGenerations = [:]

    package init(_ caches: CacheLayers) { self.caches = caches }

    package func stored(for identity: SourceIdentity) -> SourceCopy? {
        guard let record = caches.storedRecord(for: identity) else {
            // Counts a miss.
            _ = caches.memory.sources.value(for: SourceKey(source: identity))
            return nil
        }
        return SourceCopy(head: record.head, bytes: caches.bytes(of: record))
    }

    package func storedPartialHead(of identity: SourceIdentity) -> SourceHead? {
        caches.partialRecord(of: identity)?.head
    }

    package func isImage(_ source: ReceivedSource) -> Bool {
        (try? SourceRecord(source.head, bytes: source.bytes)) != nil
    }

    package var hasLayerBelowMemory: Bool { caches.belowMemory.contains(where: \.holdsSources) }

    package func retrieve(_ identity: SourceIdentity) async -> SourceCopy? { await caches.lookUpSource(for: identity) }

    package func beginFetch(of identity: SourceIdentity) -> any SourceReceiver {
        var receiver = self
        receiver.generations = caches.generationsAtStart(of: identity)
        return receiver
    }

    /// Stores a source; if its bytes have changed, first removes everything derived from the old bytes.
    package func store(_ source: ReceivedSource) {
        caches.recordChange(of: source.identity)
        let old = caches.recordInMemory(for: source.identity)
        let fetchedRecord = try? SourceRecord(source.head, bytes: source.bytes, after: old, under: generations)
        // If one target of a source returns no image, images from its other targets stay.
        if fetchedRecord == nil, source.identity.sharesTargets { return }
        guard let record = fetchedRecord, record.mayKeep(.record) else {
            discard(source.identity, isKnown: old != nil, cause: .notStorable)
            return
        }
        // A truncated source may be complete next time under the same entity tag.
        if let old, old.validator != record.validator || old.incompleteUntil != nil {
            caches.forget(source.identity, cause: .changed)
        }
        caches.storeSource(record, bytes: source.bytes)
        caches.forgetPartialRecord(of: source.identity)
        caches.recordTags(of: source.identity)
    }

    package func store(_ source: PartialSource) {
        let identity = source.head.identity
        caches.forgetPartialRecord(of: identity)
        guard source.head.mayKeep(.record), let partial = try? PartialRecord(source) else { return }
        if let old = caches.recordInMemory(for: identity), partial.contradicts(old) {
            discard(identity, isKnown: true, cause: .changed)
        }
        let record = RAWPreview(source, under: generations)?.record
        if let record {
            caches.recordChange(of: identity)
            let old = caches.recordInMemory(for: identity)
            if let old, old.validator == record.validator {
                caches.storeSource(SourceRecord(record.head, of: old, under: generations))
            } else {
                if old != nil { caches.forget(identity, cause: .changed) }
                caches.storeSource(record)
            }
            caches.recordTags(of: identity)
        }
        caches.storePartialRecord(record.map { PartialRecord($0.head, of: partial) } ?? partial)
    }

    package func refresh(_ head: SourceHead) {
        if let partial = caches.partialRecord(of: head.identity), partial.head.validator == head.validator {
            caches.storePartialRecord(PartialRecord(head, of: partial))
        }
        caches.recordChange(of: head.identity)
        guard head.freshness.storability.isStorable else {
            caches.forgetShared(head.identity, isKnown: true)
            caches.forget(head.identity, cause: .notStorable)
            return
        }
        guard let old = caches.recordInMemory(for: head.identity), old.validator == head.validator else { return }
        let record = SourceRecord(head, of: old, incompleteUntil: old.incompleteUntil, under: generations)
        caches.storeSource(record)
        if record.incompleteUntil == nil { caches.recordTags(of: head.identity) }
    }

    package func remove(_ identity: SourceIdentity) {
        discard(identity, isKnown: caches.storedRecord(for: identity) != nil, cause: .gone)
    }

    private func discard(_ identity: SourceIdentity, isKnown: Bool, cause: PurgeCause) {
        caches.forgetShared(identity, isKnown: isKnown)
        if isKnown || !caches.localBelowMemory.isEmpty { caches.forget(identity, cause: cause) }
    }
}
