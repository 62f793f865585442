package import Coordination
import DiskCaching
package import Downloading
import ImageCaching
import Imaging
import Memory
package import Telemetry

/// All caches: in memory, on disk and shared; manages the life of a source in them.
package final class PipelineCaches: SourceCaching {
    let memory: MemoryCaches
    let layers: CacheLayers
    let changes = Locked(SourceChanges())
    /// The tags under which this instance received requests for sources.
    let tags: SourceTags
    /// Sources that are being assigned generations.
    let adopted = Locked<Set<SourceIdentity>>([])
    let timekeeper: any Timekeeper
    private let events: EventLog

    /// Creates caches whose memory is empty.
    package init(
        configuration: PipelineConfiguration, layers: CacheLayers = CacheLayers(), events: EventLog = EventLog(),
        timekeeper: any Timekeeper
    ) {
        memory = MemoryCaches(configuration) { entries, bytes, isAsked in
            events.record(.purge(url: nil, entries: entries, bytes: bytes, cause: isAsked ? .memory : .full))
        }
        self.layers = layers
        tags = SourceTags(memory, changes, layers: layers, timekeeper: timekeeper)
        self.events = events
        self.timekeeper = timekeeper
    }

    /// Returns the record of a source, with its bytes if they are in memory.
    package func stored(for identity: SourceIdentity) -> StoredSource? {
        guard let record = knownRecord(for: identity) else {
            // Counts the miss.
            _ = memory.sources.value(for: SourceKey(source: identity))
            return nil
        }
        return StoredSource(head: record.head, bytes: memory.bytes(of: record))
    }

    package func isImage(_ source: Source) -> Bool { (try? SourceRecord(source.head, bytes: source.bytes)) != nil }

    /// Stores a fetched source if its image has a readable header and its origin permits shared caching.
    ///
    /// If its bytes have changed, everything derived from the old ones is removed.
    package func store(_ source: Source) { store(source, under: LayerGenerations()) }

    /// Stores a source whose fetch began under `generations`.
    fileprivate func store(_ source: Source, under generations: LayerGenerations) {
        changes.withLock { $0.note(source.identity) }
        let key = SourceKey(source: source.identity)
        let old = memory.records.value(for: key)
        let found = try? SourceRecord(source.head, bytes: source.bytes, under: generations)
        // If one target of a source returns something other than an image, images from other targets of the source are
        // unaffected.
        if found == nil, source.identity.sharesTargets { return }
        guard source.head.freshness.storability == .shared, let record = found else {
            withdraw(source.identity, known: old, cause: .notStorable)
            return
        }
        // A truncated source may be complete next time under the same entity tag.
        if let old, old.validator != record.validator || old.incompleteUntil != nil {
            removeAll(from: source.identity, cause: .changed)
        }
        memory.keep(record)
        memory.sources.add(SourceBody(validator: source.validator, bytes: source.bytes), for: key)
        layers.store(record)
        layers.store(source.bytes, of: record)
        tags.tell(of: source.identity)
    }

    /// Stores the record of an opened image, so that results derived from it can be stored too.
    func keepRecord(of source: OpenedSource) {
        let record = source.record
        changes.withLock { $0.note(record.identity) }
        memory.keep(record)
    }

    /// Replaces the record of a source confirmed by its origin; removes entries that may no longer be stored.
    package func refresh(_ head: SourceHead) { refresh(head, under: LayerGenerations()) }

    /// Replaces the record of a source whose validation began under `generations`.
    fileprivate func refresh(_ head: SourceHead, under generations: LayerGenerations) {
        changes.withLock { $0.note(head.identity) }
        guard head.freshness.storability == .shared else {
            layers.forgetShared(head.identity)
            removeAll(from: head.identity, cause: .notStorable)
            return
        }
        guard let old = memory.records.value(for: SourceKey(source: head.identity)), old.validator == head.validator
        else { return }
        let record = SourceRecord(head, of: old, incompleteUntil: old.incompleteUntil, under: generations)
        memory.keep(record)
        guard record.incompleteUntil == nil else { return }
        layers.store(record)
        tags.tell(of: head.identity)
    }

    /// Keeps a truncated source and everything derived from it only in memory, and only until `end`.
    ///
    /// It is then fetched unconditionally, as if it were unknown, because the complete file may have the same entity
    /// tag.
    func limit(_ record: SourceRecord, until end: Duration) {
        guard let known = knownRecord(for: record.identity), known.validator == record.validator,
            known.incompleteUntil == nil
        else { return }
        changes.withLock { $0.note(record.identity) }
        memory.keep(SourceRecord(known.head, of: known, incompleteUntil: end))
        layers.forgetOwn(record.identity)
        layers.forgetShared(record.identity)
    }

    package var hasSlowerLayer: Bool { layers.all.contains(where: \.holdsSources) }

    /// Whether results may be found below memory.
    var hasSlowerResults: Bool { layers.all.contains(where: \.isUp) }

    /// Records the generations of a source whose fetch begins now.
    package func beginFetch(of identity: SourceIdentity) -> any SourceKeeping {
        guard !layers.shared.isEmpty else { return self }
        return FetchBeginning(
            caches: self, generations: layers.beginning(of: identity, known: knownRecord(for: identity)))
    }

    /// Removes a source that may not be stored and everything derived from it, also from the shared layers that may
    /// have it.
    ///
    /// A removal costs the result store an object, so it is sent only for sources known here.
    private func withdraw(_ identity: SourceIdentity, known: SourceRecord?, cause: PurgeCause) {
        for layer in layers.shared
        where known != nil || layer.name == .shared && layer.beginning(of: identity, known: nil) != nil {
            layer.forget([identity])
        }
        if known != nil || !layers.own.isEmpty { removeAll(from: identity, cause: cause) }
    }

    /// Removes a source deleted at its origin, and everything derived from it.
    package func remove(_ identity: SourceIdentity) {
        withdraw(identity, known: knownRecord(for: identity), cause: .gone)
    }

    /// Returns the record of a source if it is fresh, otherwise nil.
    func record(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = knownRecord(for: identity), record.freshness.isFresh(at: timekeeper.secondsSince1970) else {
            return nil
        }
        return record
    }

    /// Returns the records of the sources if all of them are fresh, otherwise nil.
    func records(for sources: PerSource<SourceIdentity>) -> PerSource<SourceRecord>? {
        guard let image = record(for: sources.image) else { return nil }
        guard !sources.additional.isEmpty else { return PerSource(image) }
        let additional = sources.additional.compactMap(record(for:))
        return additional.count == sources.additional.count ? PerSource(image, additional: additional) : nil
    }

    /// Returns the record of a source, fresh or stale.
    func knownRecord(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = memory.records.value(for: SourceKey(source: identity)) else { return nil }
        guard let end = record.incompleteUntil, timekeeper.now >= end else { return record }
        removeAll(from: identity, cause: .incomplete)
        return nil
    }

    /// Whether the source's origin permits shared caching, and this version is still the stored one.
    func isCurrent(_ record: SourceRecord) -> Bool {
        record.freshness.storability == .shared
            && knownRecord(for: record.identity)?.validator == record.validator
    }

    func isCurrent(_ records: PerSource<SourceRecord>) -> Bool { records.allSatisfy { isCurrent($0) } }

    /// Whether the bytes of the source are cached.
    func isStored(_ record: SourceRecord) -> Bool {
        isCurrent(record) && memory.sources.contains(SourceKey(source: record.identity))
    }

    /// Stores pixels while their source is current; returns whether they were admitted.
    @discardableResult
    func keep(_ image: DecodedImage, for key: DecodeKey, of record: SourceRecord) -> Bool {
        memory.keep(image, for: key, while: { self.isCurrent(record) }, in: memory.decoded)
    }

    /// The memory used by keys, records and tags, which no block of bytes counts, in bytes.
    package var byteCountBesideBlocks: Int { memory.byteCountBesideBlocks + tags.byteCount }

    /// Makes room in memory; returns the number of released bytes.
    package func purge(_ step: MemoryBudget.Purge) -> Int { memory.purge(step) }

    /// Removes a source and everything derived from it, from memory at once and from the disk later; returns the
    /// entries removed from memory.
    @discardableResult
    func removeAll(from identity: SourceIdentity, cause: PurgeCause) -> RemovedEntries {
        let removed = removeFromMemory(identity)
        layers.forgetOwn(identity)
        if removed.entries > 0 {
            events.record(
                .purge(
                    url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: cause))
        }
        return removed
    }

    /// Removes a source and everything derived from it; returns the entries removed from memory and the disk.
    func removedAll(from identity: SourceIdentity) async -> RemovedEntries {
        let removed = removeFromMemory(identity)
        return removed + (await layers.removeOwn(.sources([identity])))
    }

    /// Removes everything; returns the entries removed from memory and the disk.
    func removedEverything() async -> RemovedEntries {
        changes.withLock { $0.noteAll() }
        tags.forgetAll()
        let removed = memory.removeAll()
        return removed + (await layers.removeOwn(.everything))
    }

    private func removeFromMemory(_ identity: SourceIdentity) -> RemovedEntries {
        changes.withLock { $0.note(identity) }
        return memory.removeAll(from: identity)
    }

    /// The figures by cache name, in the documented order; the disk's shares only if there is a disk.
    var figures: [(name: String, figures: CacheFigures)] {
        let shares = layers.disk?.store.statistics.shares ?? [:]
        let names: [(String, DiskShare)] = [("sourceDisk", .source), ("resultDisk", .result), ("recordDisk", .record)]
        return memory.figures + names.compactMap { name, share in shares[share].map { (name, CacheFigures($0)) } }
    }
}

/// A fetch that began under these generations.
struct FetchBeginning: SourceKeeping {
    let caches: PipelineCaches
    let generations: LayerGenerations

    func store(_ source: Source) { caches.store(source, under: generations) }

    func refresh(_ head: SourceHead) { caches.refresh(head, under: generations) }
}
