package import Coordination
import DiskCaching
package import Downloading
import ImageCaching
import Imaging
import Memory
import SharedCaching
package import Telemetry

/// The three caches in memory, the disk below them, and the records that tie results and pixels to the sources they
/// were made from.
package final class PipelineCaches: SourceCaching {
    let decoded: AutoPurgingImageCache<DecodeKey, DecodedImage>
    let results: AutoPurgingImageCache<ResultKey, RenderedImage>
    let sources: AutoPurgingImageCache<SourceKey, SourceBody>
    let records: AutoPurgingImageCache<SourceKey, SourceRecord>
    let timekeeper: any Timekeeper
    let disk: PipelineDisk?
    /// Nil without a shared cache.
    let tier: SharedTier?
    let changes = Locked(SourceChanges())
    /// Sources that are getting generations.
    let adopted = Locked<Set<SourceIdentity>>([])
    private let events: EventLog

    /// Capacity for records in bytes: about 30,000 sources whose pixels or results may still be there.
    private static let recordCapacity = 32 << 20

    /// Caches that are empty in memory.
    package init(
        configuration: PipelineConfiguration, disk: PipelineDisk? = nil, tier: SharedTier? = nil,
        events: EventLog = EventLog(), timekeeper: any Timekeeper
    ) {
        let purged = { @Sendable (entries: Int, bytes: Int, isAsked: Bool) in
            events.record(.purge(url: nil, entries: entries, bytes: bytes, cause: isAsked ? .memory : .full))
        }
        decoded = AutoPurgingImageCache(
            memoryCapacity: configuration.decodedCacheCapacity,
            preferredMemoryUsageAfterPurge: configuration.decodedCachePreferred, cost: \.byteCount, purged: purged)
        results = AutoPurgingImageCache(
            memoryCapacity: configuration.resultCacheCapacity,
            preferredMemoryUsageAfterPurge: configuration.resultCachePreferred, cost: \.cost, purged: purged)
        sources = AutoPurgingImageCache(
            memoryCapacity: configuration.sourceCacheMemory,
            preferredMemoryUsageAfterPurge: configuration.sourceCacheMemory / 10 * 9, cost: \.cost,
            purged: purged)
        records = AutoPurgingImageCache(
            memoryCapacity: Self.recordCapacity, preferredMemoryUsageAfterPurge: Self.recordCapacity / 10 * 9,
            cost: \.cost)
        self.timekeeper = timekeeper
        self.disk = disk
        self.events = events
        self.tier = tier
    }

    /// The record of a source, with its bytes if they are here.
    package func stored(for identity: SourceIdentity) -> StoredSource? {
        guard let record = knownRecord(for: identity) else {
            // Counts the miss.
            _ = sources.value(for: SourceKey(source: identity))
            return nil
        }
        return StoredSource(head: record.head, bytes: bytes(of: record))
    }

    /// The bytes of the version that a record describes, while they are here.
    func bytes(of record: SourceRecord) -> SharedBytes? {
        // Two transfers of one source may end at once: bytes that are not those of the record are of no use.
        sources.value(for: SourceKey(source: record.identity)) { $0.validator == record.validator }?.bytes
    }

    /// Whether a fetched source has a readable header.
    package func isImage(_ source: Source) -> Bool { (try? SourceRecord(source.head, bytes: source.bytes)) != nil }

    /// Keeps a fetched source whose image has a readable header and whose origin lets a shared cache store it.
    ///
    /// If the bytes are not the same as before, all that was made from the old ones is removed.
    package func store(_ source: Source, _ ticket: (any FetchTicket)? = nil) {
        changes.withLock { $0.note(source.identity) }
        let key = SourceKey(source: source.identity)
        let old = records.value(for: key)
        let found = try? SourceRecord(
            source.head, bytes: source.bytes, under: (ticket as? FetchBeginning)?.generations)
        // What came from one target instead of an image says nothing about the image that came from other targets of
        // the source.
        if found == nil, source.identity.sharesTargets { return }
        guard source.head.freshness.storability == .shared, let record = found else {
            withdraw(source.identity, known: old, cause: .notStorable)
            return
        }
        // What lacked pixels may come whole under the same entity tag.
        if let old, old.validator != record.validator || old.incompleteUntil != nil {
            removeAll(from: source.identity, cause: .changed)
        }
        records.add(record, for: key)
        sources.add(SourceBody(validator: source.validator, bytes: source.bytes), for: key)
        disk?.keep(record)
        disk?.keep(source.bytes, of: record)
        tier?.keep(record)
        tier?.keep(source.bytes, of: record)
    }

    /// Keeps the record of an opened image, so that results made from it may be kept as well.
    func keepRecord(of source: OpenedSource) {
        let record = source.record
        changes.withLock { $0.note(record.identity) }
        records.add(record, for: SourceKey(source: record.identity))
    }

    /// Replaces the record of a source that its origin has confirmed; removes entries that may not be kept any more.
    package func refresh(_ head: SourceHead, _ ticket: (any FetchTicket)? = nil) {
        changes.withLock { $0.note(head.identity) }
        guard head.freshness.storability == .shared else {
            tier?.forget(head.identity)
            removeAll(from: head.identity, cause: .notStorable)
            return
        }
        let key = SourceKey(source: head.identity)
        guard let old = records.value(for: key), old.validator == head.validator else { return }
        let record = SourceRecord(
            head, of: old, incompleteUntil: old.incompleteUntil, under: (ticket as? FetchBeginning)?.generations)
        records.add(record, for: key)
        guard record.incompleteUntil == nil else { return }
        disk?.keep(record)
        tier?.keep(record)
    }

    /// Keeps a source that lacks pixels, and all made from it, in memory alone and no longer than until `end`.
    ///
    /// Then it is fetched without a condition, as if it were unknown: the rest of it may come under the same entity
    /// tag.
    func limit(_ record: SourceRecord, until end: Duration) {
        guard let known = knownRecord(for: record.identity), known.validator == record.validator,
            known.incompleteUntil == nil
        else { return }
        changes.withLock { $0.note(record.identity) }
        records.add(
            SourceRecord(known.head, of: known, incompleteUntil: end),
            for: SourceKey(source: record.identity))
        disk?.removeAll(from: record.identity)
        tier?.forget(record.identity)
    }

    /// Whether there is a disk, or the shared cache may have the bytes of sources.
    package var hasSlowerLayer: Bool { disk != nil || tier?.sharesSources == true }

    /// Whether results may be found below memory.
    var hasSlowerResults: Bool { disk != nil || tier?.isUp == true }

    /// Whether there is a disk.
    var hasDisk: Bool { disk != nil }

    /// Changes whenever a result is removed or something else becomes known of a source.
    var generation: Int { results.removalCount &+ records.removalCount }

    /// Forgets a source that its origin does not have any more, and all made from it.
    package func remove(_ identity: SourceIdentity) {
        withdraw(identity, known: knownRecord(for: identity), cause: .gone)
    }

    /// Removes a source as another instance did, from memory and the disk of this one.
    func removeLocally(_ identity: SourceIdentity) { removeAll(from: identity, cause: .fleet) }

    /// The record of a source that is fresh, else nil.
    func record(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = knownRecord(for: identity), record.freshness.isFresh(at: timekeeper.secondsSince1970) else {
            return nil
        }
        return record
    }

    /// The records of the sources if all of them are fresh, else nil.
    func records(for sources: PerSource<SourceIdentity>) -> PerSource<SourceRecord>? {
        guard let image = record(for: sources.image) else { return nil }
        guard !sources.additional.isEmpty else { return PerSource(image) }
        let additional = sources.additional.compactMap(record(for:))
        return additional.count == sources.additional.count ? PerSource(image, additional: additional) : nil
    }

    /// The record of a source, fresh or stale.
    func knownRecord(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = records.value(for: SourceKey(source: identity)) else { return nil }
        guard let end = record.incompleteUntil, timekeeper.now >= end else { return record }
        removeAll(from: identity, cause: .incomplete)
        return nil
    }

    /// Whether the source's origin lets a shared cache keep it, and this version is still the one that is kept.
    func isCurrent(_ record: SourceRecord) -> Bool {
        record.freshness.storability == .shared
            && knownRecord(for: record.identity)?.validator == record.validator
    }

    /// Whether this is so for all sources of a result.
    func isCurrent(_ records: PerSource<SourceRecord>) -> Bool { records.allSatisfy { isCurrent($0) } }

    /// Whether pixels or results of the source are here: proof that it can be decoded in some way.
    func hasMadeAny(from source: SourceIdentity) -> Bool {
        decoded.hasAny(from: source) || results.hasAny(from: source)
    }

    /// Whether the bytes of the source are kept.
    func isStored(_ record: SourceRecord) -> Bool {
        isCurrent(record) && sources.contains(SourceKey(source: record.identity))
    }

    /// Keeps pixels while their source is current; returns whether they were admitted.
    @discardableResult
    func keep(_ image: DecodedImage, for key: DecodeKey, of record: SourceRecord) -> Bool {
        keep(image, for: key, while: { self.isCurrent(record) }, in: decoded)
    }

    /// Keeps a result while all its sources are current; returns whether it was admitted.
    func keep(_ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>) -> Bool {
        let isKept = keep(result, for: key, while: { self.isCurrent(records) }, in: results)
        guard let disk, !result.isIncomplete, isCurrent(records) else { return isKept }
        disk.keep(result, for: key)
        // As in memory: a removal that was done on the disk before the result came is noticed here.
        for record in records where !isCurrent(record) { disk.removeAll(from: record.identity) }
        return true
    }

    /// Keeps a value while a condition holds that a removal ends; returns whether it was admitted.
    func keep<Key, Value>(
        _ value: Value, for key: Key, while isCurrent: () -> Bool, in cache: AutoPurgingImageCache<Key, Value>
    ) -> Bool {
        guard isCurrent(), cache.add(value, for: key) else { return false }
        // A removal takes the record first: one that was done in the cache before the value came is noticed here.
        if isCurrent() { return true }
        cache.remove(key)
        return false
    }

    /// Bytes that the caches take beside blocks of bytes, which count themselves: keys, places and records.
    package var byteCountBesideBlocks: Int {
        decoded.keyUsage + results.keyUsage + sources.keyUsage + records.memoryUsage
    }

    /// Makes room in memory: returns the bytes that were given up.
    package func purge(_ step: MemoryBudget.Purge) -> Int {
        switch step {
        case .preferred: decoded.purgeToPreferred() + results.purgeToPreferred() + sources.purgeToPreferred()
        case .empty: decoded.purgeEverything()
        }
    }

    /// Removes a source and all made from it, from memory at once and from the disk later; returns what was in memory.
    @discardableResult
    func removeAll(from identity: SourceIdentity, cause: PurgeCause) -> RemovedEntries {
        let removed = removeFromMemory(identity)
        disk?.removeAll(from: identity)
        if removed.entries > 0 {
            events.record(
                .purge(
                    url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: cause))
        }
        return removed
    }

    /// Removes a source and all made from it; returns what was in memory and on the disk.
    func removedAll(from identity: SourceIdentity) async -> RemovedEntries {
        let removed = removeFromMemory(identity)
        return Self.sum([removed, await disk?.removedAll(from: identity) ?? RemovedEntries()])
    }

    /// Empties everything; returns what was in memory and on the disk.
    func removedEverything() async -> RemovedEntries {
        let removed = removeAllFromMemory()
        return Self.sum([removed, await disk?.removedEverything() ?? RemovedEntries()])
    }

    private func removeFromMemory(_ identity: SourceIdentity) -> RemovedEntries {
        changes.withLock { $0.note(identity) }
        records.removeAll(from: identity)
        return removeWhatWasMade(from: identity)
    }

    /// Removes from memory what was made from a source, and its bytes; returns that.
    func removeWhatWasMade(from identity: SourceIdentity) -> RemovedEntries {
        Self.sum([
            decoded.removeAll(from: identity), results.removeAll(from: identity), sources.removeAll(from: identity),
        ])
    }

    private func removeAllFromMemory() -> RemovedEntries {
        changes.withLock { $0.noteAll() }
        records.removeAll()
        return Self.sum([decoded.removeAll(), results.removeAll(), sources.removeAll()])
    }

    /// Figures by cache name, in the contract's order; the disk's shares only if there is a disk.
    var figures: [(name: String, figures: CacheFigures)] {
        let memory = [("decoded", decoded.statistics), ("result", results.statistics), ("source", sources.statistics)]
        let shares = disk?.store.statistics.shares ?? [:]
        let names: [(String, DiskShare)] = [("sourceDisk", .source), ("resultDisk", .result), ("recordDisk", .record)]
        return memory.map { ($0.0, CacheFigures($0.1)) }
            + names.compactMap { name, share in shares[share].map { (name, CacheFigures($0)) } }
    }

    /// The state of the disk cache; nil without one.
    var diskStatistics: DiskStatistics? { disk?.store.statistics }

    private static func sum(_ removed: [RemovedEntries]) -> RemovedEntries {
        sum(removed.map { (entries: $0.entries, bytes: $0.bytes) })
    }

    private static func sum(_ removed: [(entries: Int, bytes: Int)]) -> RemovedEntries {
        removed.reduce(into: RemovedEntries()) { total, part in
            total.entries += part.entries
            total.bytes += part.bytes
        }
    }
}
