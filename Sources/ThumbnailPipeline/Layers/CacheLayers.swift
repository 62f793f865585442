package import Coordination
import Downloading
import Imaging
import Memory
import Recipes
package import SharedCaching
package import Telemetry
import ThumbnailTypes

/// Memory, disk, shared cache and result store, in the order in which they are looked up.
package final class CacheLayers: Sendable {
    let memory: MemoryLayer
    /// All layers, the fastest first.
    let all: [any CacheLayer]
    /// The layers below memory, local layers first.
    let slower: [any CacheLayer]
    /// The layers of this instance.
    let own: [any CacheLayer]
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
        own = ([memory, disk] as [(any CacheLayer)?]).compactMap(\.self)
        shared = [(LayerName.sharedCache, sharedCache), (.resultStore, resultStore)].compactMap { name, store in
            store.map { SharedLayer(name, $0, rules: rules, timekeeper: timekeeper) }
        }
        all = own + shared
        slower = Array(all.dropFirst())
        self.events = events
        self.timekeeper = timekeeper
    }

    /// The layers of this instance below memory.
    var slowerOwn: ArraySlice<any CacheLayer> { own.dropFirst() }

    /// Whether results may be found below memory.
    var hasSlowerResults: Bool { slower.contains(where: \.isUp) }

    // MARK: Records in memory

    /// Returns the record of a source, even if it was truncated and its time is over.
    func storedRecord(for identity: SourceIdentity) -> SourceRecord? {
        memory.records.value(for: SourceKey(source: identity))
    }

    /// Returns the record of a source, fresh or stale.
    func knownRecord(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = storedRecord(for: identity) else { return nil }
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

    func result(for key: ResultKey, countsMiss: Bool = true) -> RenderedImage? {
        memory.results.value(for: key, countsMiss: countsMiss)
    }

    func hasResult(_ key: ResultKey) -> Bool { memory.results.contains(key) }

    func pixels(for key: DecodeKey, countsMiss: Bool = true) -> DecodedImage? {
        memory.decoded.value(for: key, countsMiss: countsMiss)
    }

    func hasPixels(_ key: DecodeKey) -> Bool { memory.decoded.contains(key) }

    /// Returns the bytes of the version that a record describes, if they are in memory.
    func bytes(of record: SourceRecord) -> SharedBytes? { memory.value(for: .source(record.version))?.source }

    func countMissedSource(_ identity: SourceIdentity) { _ = memory.sources.value(for: SourceKey(source: identity)) }

    // MARK: Writes

    /// Nothing read from a layer before this is put into memory after it.
    func noteChange(of identity: SourceIdentity) { changes.withLock { $0.note(identity) } }

    /// Stores the record of a source, and its bytes if they have changed too, in all layers that may have them.
    func store(_ record: SourceRecord, bytes: SharedBytes? = nil) {
        for layer in all {
            store(.record(record), for: .record(record.identity), of: PerSource(record), in: layer)
            guard let bytes else { continue }
            store(.source(bytes), for: .source(record.version), of: PerSource(record), in: layer)
        }
    }

    /// Stores a record in memory alone.
    func storeInMemory(_ record: SourceRecord) {
        noteChange(of: record.identity)
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
        for layer in slower { layer.forget(.sources([record.identity])) }
    }

    /// Stores a result in all layers while its sources are current; returns which accepted it.
    func store(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>
    ) -> [CacheLayerStatus.Layer] {
        all.filter { store(result, for: key, of: records, in: $0) }.map(\.name.status)
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
    /// If a source was fetched while a shared layer was unreachable, or was found in another, the result is stored
    /// there later.
    @discardableResult
    func store(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        guard isCurrent(records) else { return false }
        if let layer = layer as? SharedLayer, layer.isNearby,
            records.contains(where: { $0.generations[layer.name] == nil })
        {
            LateSharing(caches: self, layer: layer).share(result, for: key, of: records)
            return false
        }
        guard store(.result(result), for: .result(key), of: records, in: layer) else { return false }
        if isCurrent(records) { return true }
        layer.forget(.value(.result(key)))
        return false
    }

    /// Stores a value in a layer if it may be there; returns whether the layer accepted it.
    ///
    /// No layer stores what an origin forbids a shared cache to store. Below memory they also refuse what is uploaded
    /// or lacks pixels, and shared ones what differs between machines.
    @discardableResult
    func store(
        _ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        if case .source = key, !layer.holdsSources { return false }
        return records.allSatisfy { $0.freshness.storability == .shared }
            && layer.store(value, for: key, of: records)
    }

    /// Returns the generations of a source before it is fetched.
    func beginning(of identity: SourceIdentity) -> LayerGenerations {
        let known = shared.isEmpty ? nil : knownRecord(for: identity)
        return shared.reduce(into: [:]) { $0[$1.name] = $1.beginning(of: identity, known: known) }
    }

    // MARK: Removals

    /// Removes a source and everything derived from it, from memory at once and from the disk later; returns the
    /// entries removed from memory.
    @discardableResult
    func removeAll(from identity: SourceIdentity, cause: PurgeCause) -> RemovedEntries {
        noteChange(of: identity)
        let removed = own.reduce(RemovedEntries()) { $0 + $1.forget(.sources([identity])) }
        if removed.entries > 0 {
            events.record(
                .purge(url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: cause))
        }
        return removed
    }

    /// Queues the removal of everything derived from a source from the shared layers that may have it.
    func forgetShared(_ identity: SourceIdentity, isKnown: Bool) {
        for layer in shared where isKnown || layer.mayHold(unknown: identity) { layer.forget(.sources([identity])) }
    }

    /// Removes entries from the layers of this instance, memory first, because results are stored only while their
    /// records are there; returns what was removed.
    func removeOwn(_ removal: Removal) async -> RemovedEntries {
        switch removal {
        case .sources(let identities, _): identities.forEach(noteChange)
        case .value, .tagged: break
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
    var figures: [(name: String, figures: CacheFigures)] { all.flatMap(\.health.figures) }
}
