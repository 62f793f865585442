package import Coordination
import Downloading
import Imaging
import Memory
package import SharedCaching
package import Telemetry
import ThumbnailTypes

/// Memory, disk, shared cache and result store, in the order in which they are looked up.
package final class CacheLayers: Sendable {
    let memory: MemoryLayer
    /// Nil without a disk cache.
    let disk: DiskLayer?
    let sharedCache: SharedLayer?
    let resultStore: SharedLayer?
    /// All layers, the fastest first.
    let all: [any CacheLayer]
    /// The layers of this instance.
    private let own: [any CacheLayer]
    /// The layers shared with other instances.
    let shared: [SharedLayer]

    /// Nothing read from a layer before a change of its source is put into memory after it.
    let changes = Locked(ChangeTracker<SourceIdentity>())
    /// The tags under which this instance received requests for sources.
    let tagIndex = Locked(TagIndex())
    /// Sources that are being assigned generations.
    let adopting = Locked<Set<SourceIdentity>>([])
    let timekeeper: any Timekeeper
    private let events: EventLog

    /// Creates the layers on these stores, nil for those that the service does not have; the memory is empty.
    package init(
        configuration: PipelineConfiguration, disk: DiskLayer? = nil, sharedCache: SharedStore? = nil,
        resultStore: SharedStore? = nil, rules: SharedLayer.Rules = SharedLayer.Rules(digest: ""),
        events: EventLog = EventLog(), timekeeper: any Timekeeper
    ) {
        memory = MemoryLayer(configuration) { entries, bytes, isAsked in
            events.record(.purge(url: nil, entries: entries, bytes: bytes, cause: isAsked ? .memory : .full))
        }
        self.disk = disk
        self.sharedCache = sharedCache.map { SharedLayer(.shared, $0, rules: rules, timekeeper: timekeeper) }
        self.resultStore = resultStore.map { SharedLayer(.store, $0, rules: rules, timekeeper: timekeeper) }
        own = ([memory, disk] as [(any CacheLayer)?]).compactMap(\.self)
        shared = [self.sharedCache, self.resultStore].compactMap(\.self)
        all = own + shared
        self.events = events
        self.timekeeper = timekeeper
    }

    /// The layers below memory.
    var slower: ArraySlice<any CacheLayer> { all.dropFirst() }

    /// Whether results may be found below memory.
    var hasSlowerResults: Bool { slower.contains(where: \.isUp) }

    // MARK: Records in memory

    /// Returns the record of a source, fresh or stale.
    func knownRecord(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = memory.records.value(for: SourceKey(source: identity)) else { return nil }
        guard let end = record.incompleteUntil, timekeeper.now >= end else { return record }
        removeAll(from: identity, cause: .incomplete)
        return nil
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

    /// Whether the source's origin permits shared caching, and this version is still the stored one.
    func isCurrent(_ record: SourceRecord) -> Bool {
        record.freshness.storability == .shared
            && knownRecord(for: record.identity)?.validator == record.validator
    }

    func isCurrent(_ records: PerSource<SourceRecord>) -> Bool { records.allSatisfy { isCurrent($0) } }

    /// Whether the bytes of the source are in memory.
    func isStored(_ record: SourceRecord) -> Bool {
        isCurrent(record) && memory.sources.contains(SourceKey(source: record.identity))
    }

    // MARK: Writes

    /// Stores the record of a source, and its bytes if they have changed too, in all layers that may have them.
    func store(_ record: SourceRecord, bytes: SharedBytes? = nil) {
        for layer in all {
            store(.record(record), for: .record(record.identity), of: PerSource(record), in: layer)
            guard let bytes else { continue }
            let body = SourceBody(validator: record.validator, bytes: bytes)
            store(.source(body), for: .source(record.version), of: PerSource(record), in: layer)
        }
    }

    /// Stores a record in memory alone.
    func storeInMemory(_ record: SourceRecord) {
        changes.withLock { $0.note(record.identity) }
        memory.store(.record(record), for: .record(record.identity), of: PerSource(record))
    }

    /// Keeps a truncated source and everything derived from it only in memory, and only until `end`.
    ///
    /// It is then fetched unconditionally, as if it were unknown, because the complete file may have the same entity
    /// tag.
    func limit(_ record: SourceRecord, until end: Duration) {
        guard let known = knownRecord(for: record.identity), known.validator == record.validator,
            known.incompleteUntil == nil
        else { return }
        storeInMemory(SourceRecord(known.head, of: known, incompleteUntil: end))
        for layer in slower { layer.forget([record.identity]) }
    }

    /// Stores a result in all layers while its sources are current; returns whether a layer of this instance accepted
    /// it, and the shared layers in which it is being stored.
    func store(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>
    ) -> (isStored: Bool, shared: [LayerName]) {
        let stored = all.filter { store(result, for: key, of: records, in: $0) }.map(\.name)
        return (stored.contains { !$0.isShared }, stored.filter(\.isShared))
    }

    /// Stores pixels in memory while their source is current; returns whether they were admitted.
    @discardableResult
    func store(_ image: DecodedImage, for key: DecodeKey, of record: SourceRecord) -> Bool {
        guard isCurrent(record), memory.decoded.add(image, for: key) else { return false }
        // A removal deletes the record first, so this check detects one that cleared the cache before the pixels were
        // added.
        if isCurrent(record) { return true }
        memory.decoded.remove(key)
        return false
    }

    /// Stores a result in a layer while its sources are current; returns whether it was accepted.
    ///
    /// If a source was fetched while the shared cache was unreachable, or was found in the result store, the result is
    /// stored there later.
    @discardableResult
    func store(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        guard isCurrent(records) else { return false }
        if let sharedCache, layer.name == .shared, records.contains(where: { $0.generations.shared == nil }) {
            LateSharing(caches: self, layer: sharedCache).share(result, for: key, of: records)
            return false
        }
        guard store(.result(result), for: .result(key), of: records, in: layer) else { return false }
        if isCurrent(records) { return true }
        layer.remove(.result(key))
        return false
    }

    /// Stores a value in a layer if it may be there; returns whether the layer accepted it.
    ///
    /// The rules for storing values: nothing that an origin forbids a shared cache to store; below memory nothing
    /// uploaded and nothing that lacks pixels; in shared layers nothing that differs between machines.
    @discardableResult
    func store(
        _ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        if case .source = key, !layer.holdsSources { return false }
        let isComplete = value.result?.isIncomplete != true && records.allSatisfy { $0.incompleteUntil == nil }
        guard records.allSatisfy({ $0.freshness.storability == .shared }), isComplete || layer.name == .memory,
            layer.mayHold(key)
        else { return false }
        return layer.store(value, for: key, of: records)
    }

    /// Returns the generations of a source before it is fetched.
    func beginning(of identity: SourceIdentity) -> LayerGenerations {
        let known = shared.isEmpty ? nil : knownRecord(for: identity)
        return shared.reduce(LayerGenerations()) { generations, layer in
            generations.filled(from: LayerGenerations(layer.beginning(of: identity, known: known), of: layer.name))
        }
    }

    // MARK: Removals

    /// Removes a source and everything derived from it, from memory at once and from the disk later; returns the
    /// entries removed from memory.
    @discardableResult
    func removeAll(from identity: SourceIdentity, cause: PurgeCause) -> RemovedEntries {
        changes.withLock { $0.note(identity) }
        let removed = own.reduce(RemovedEntries()) { $0 + $1.forget([identity]) }
        if removed.entries > 0 {
            events.record(
                .purge(url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: cause))
        }
        return removed
    }

    /// Queues the removal of everything derived from a source from the shared layers that may have it.
    ///
    /// A removal costs the result store an object, so it is sent only for sources known here.
    func forgetShared(_ identity: SourceIdentity, isKnown: Bool) {
        for layer in shared
        where isKnown || layer.name == .shared && layer.beginning(of: identity, known: nil) != nil {
            layer.forget([identity])
        }
    }

    /// Removes entries from the layers of this instance, memory first, because results are stored only while their
    /// records are there; returns what was removed.
    func removeOwn(_ removal: Removal) async -> RemovedEntries {
        switch removal {
        case .sources(let identities, _): changes.withLock { for identity in identities { $0.note(identity) } }
        case .tagged: break
        case .everything:
            changes.withLock { $0.noteAll() }
            tagIndex.withLock { $0.forgetAll() }
        }
        var removed = RemovedEntries()
        for layer in own { removed = removed + (await layer.remove(removal)).entries }
        return removed
    }

    /// Removes entries from the shared layers and all instances; returns the least advanced state.
    ///
    /// The last layer comes first, because lookups copy from it into earlier ones.
    func purge(_ removal: Removal) async -> RemovalState {
        var state = RemovalState.done
        for layer in shared.reversed() { state = max(state, (await layer.remove(removal)).state) }
        return state
    }

    // MARK: Memory

    /// The memory used by keys, records and tags, which no block of bytes counts, in bytes.
    package var byteCountBesideBlocks: Int { memory.byteCountBesideBlocks + tagIndex.withLock(\.byteCount) }

    /// Makes room in memory; returns the number of released bytes.
    package func purge(_ step: MemoryBudget.Purge) -> Int { memory.purge(step) }

    /// The figures by cache name, in the documented order; the disk's shares only if there is a disk.
    var figures: [(name: String, figures: CacheFigures)] { all.flatMap(\.figures) }
}
