package import Coordination
import Downloading
import Imaging
import Memory
import Recipes
package import SharedCaching
package import Telemetry
import ThumbnailTypes

/// Memory, disk, shared cache and result store, in lookup order.
package final class CacheLayers: Sendable {
    let memory: MemoryLayer
    let all: [any CacheLayer]
    /// The layers below memory, local ones first.
    let belowMemory: [any CacheLayer]
    let local: [any CacheLayer]
    let shared: [SharedLayer]

    /// Detects that a source changed while a layer was being read, so that the stale value does not enter memory.
    let changes = Locked(ChangeTracker<SourceIdentity>())
    /// The tags under which this instance received requests for sources.
    let tagIndex = Locked(TagIndex())
    /// Sources whose generations a deferred write is reading.
    let awaitingGenerations = Locked<Set<SourceIdentity>>([])
    let timekeeper: any Timekeeper
    private let events: EventLog

    package init(
        configuration: PipelineConfiguration, disk: DiskLayer? = nil, sharedCache: SharedStore? = nil,
        resultStore: SharedStore? = nil, rules: SharedLayer.Rules = SharedLayer.Rules(digest: ""),
        events: EventLog = EventLog(), timekeeper: any Timekeeper
    ) {
        memory = MemoryLayer(configuration) { eviction in
            events.record(
                .purge(
                    url: nil, entries: eviction.entries, bytes: eviction.bytes,
                    cause: eviction.isRequested ? .memory : .full))
        }
        local = ([memory, disk] as [(any CacheLayer)?]).compactMap(\.self)
        shared = [(LayerName.sharedCache, sharedCache), (.resultStore, resultStore)].compactMap { name, store in
            store.map { SharedLayer(name, store: $0, rules: rules, timekeeper: timekeeper) }
        }
        all = local + shared
        belowMemory = Array(all.dropFirst())
        self.events = events
        self.timekeeper = timekeeper
    }

    var localBelowMemory: ArraySlice<any CacheLayer> { local.dropFirst() }

    var hasResultsBelowMemory: Bool { belowMemory.contains { [.up, .full].contains($0.health.state) } }

    func recordInMemory(for identity: SourceIdentity) -> SourceRecord? {
        memory.records.value(for: SourceKey(source: identity))
    }

    func partialRecord(of identity: SourceIdentity) -> PartialRecord? {
        memory.partialRecords.value(for: SourceKey(source: identity), countsMiss: false)
    }

    func storePartialRecord(_ record: PartialRecord) {
        memory.partialRecords.add(record, for: SourceKey(source: record.head.identity))
    }

    func forgetPartialRecord(of identity: SourceIdentity) {
        memory.partialRecords.remove(SourceKey(source: identity))
    }

    func storedRecord(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = recordInMemory(for: identity) else { return nil }
        guard let end = record.incompleteUntil, timekeeper.now >= end else { return record }
        forget(identity, cause: .incomplete)
        return nil
    }

    /// Returns the record only if it describes this version.
    func storedRecord(of version: SourceVersion) -> SourceRecord? {
        storedRecord(for: version.source).flatMap { $0.validator == version.validator ? $0 : nil }
    }

    func freshRecord(for identity: SourceIdentity) -> SourceRecord? {
        guard let record = storedRecord(for: identity), record.freshness.isFresh(at: timekeeper.secondsSince1970) else {
            return nil
        }
        return record
    }

    func freshRecords(for sources: PerSource<SourceIdentity>) -> PerSource<SourceRecord>? {
        guard let main = freshRecord(for: sources.main) else { return nil }
        guard !sources.additional.isEmpty else { return PerSource(main) }
        let additional = sources.additional.compactMap(freshRecord(for:))
        return additional.count == sources.additional.count ? PerSource(main, additional: additional) : nil
    }

    /// True if the record may be stored and has not been replaced.
    func isCurrent(_ record: SourceRecord) -> Bool {
        record.freshness.storability.isStorable && storedRecord(of: record.version) != nil
    }

    func isCurrent(_ records: PerSource<SourceRecord>) -> Bool { records.allSatisfy { isCurrent($0) } }

    package func setBounds(_ configuration: PipelineConfiguration) { memory.setBounds(configuration) }

    /// Removes everything derived from an outdated version from this instance.
    func forgetDerived(from identity: SourceIdentity) {
        memory.removeDerived(from: identity)
        for layer in localBelowMemory { layer.forget(.sources([identity])) }
    }

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

    func bytes(of record: SourceRecord) -> SharedBytes? { memory.value(for: .source(record.version))?.source }

    /// Makes reads in progress discard their values.
    func recordChange(of identity: SourceIdentity) { changes.withLock { $0.record(identity.wildcard) } }

    /// Stores the record and the bytes in all layers that accept them.
    func storeSource(_ record: SourceRecord, bytes: SharedBytes? = nil) {
        for layer in all {
            store(.record(record), for: .record(record.identity), of: PerSource(record), in: layer)
            guard let bytes else { continue }
            store(.source(bytes), for: .source(record.version), of: PerSource(record), in: layer)
        }
    }

    func storeInMemory(_ record: SourceRecord) {
        recordChange(of: record.identity)
        memory.store(.record(record), for: .record(record.identity), of: PerSource(record))
    }

    /// Keeps a truncated source and everything derived from it only in memory, and only until `end`.
    ///
    /// It is then fetched without a condition, because the complete file may have the same entity tag.
    func markIncomplete(_ record: SourceRecord, until end: Duration) {
        guard let stored = storedRecord(of: record.version), stored.incompleteUntil == nil else { return }
        storeInMemory(SourceRecord(stored.head, of: stored, incompleteUntil: end))
        for layer in belowMemory { layer.forget(.sources([record.identity])) }
    }

    /// Adds the faces to the record in all layers, unless the source has changed.
    func remember(_ faces: [Face], of record: SourceRecord) {
        guard let stored = storedRecord(of: record.version) else { return }
        let complete = SourceRecord(stored.head, of: stored, incompleteUntil: stored.incompleteUntil, faces: faces)
        guard stored.incompleteUntil == nil else { return storeInMemory(complete) }
        recordChange(of: record.identity)
        storeSource(complete)
    }

    func faces(of record: SourceRecord) -> [Face]? { record.faces ?? storedRecord(of: record.version)?.faces }

    /// Does nothing if one of the sources has changed; returns the layers that stored the result.
    func storeResult(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>
    ) -> [CacheLayerStatus.Layer] {
        all.filter { storeResult(result, for: key, of: records, in: $0) }.map(\.name.status)
    }

    /// Does nothing if the source has changed; returns whether the pixels were stored.
    @discardableResult
    func storePixels(_ image: DecodedImage, for key: DecodeKey, of record: SourceRecord) -> Bool {
        let timeCost = key.timeCost(of: record.header, fileByteCount: record.byteCount)
        guard isCurrent(record), record.mayKeep(.pixels(byteCount: image.byteCount)),
            memory.decoded.add(image, for: key, timeCost: timeCost)
        else { return false }
        // A removal deletes the record first, so this check detects a removal during `add`.
        if isCurrent(record) { return true }
        memory.decoded.remove(key)
        return false
    }

    @discardableResult
    func storeResult(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        guard isCurrent(records), !layer.storeLater(result, for: key, of: records, from: self),
            store(.result(result), for: .result(key), of: records, in: layer)
        else { return false }
        if isCurrent(records) { return true }
        layer.forget(.value(.result(key)))
        return false
    }

    /// Stores what ``SourceRecord/mayKeep(_:inMemory:)`` allows.
    ///
    /// Layers below memory also reject uploads and truncated images; shared layers reject files from local folders.
    @discardableResult
    func store(
        _ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        if case .source = key, !layer.holdsSources { return false }
        let isMemory = layer.name == memory.name
        return records.allSatisfy { $0.mayKeep(value.derivative, inMemory: isMemory) }
            && layer.store(value, for: key, of: records)
    }

    func generationsAtStart(of identity: SourceIdentity) -> LayerGenerations {
        let stored = shared.isEmpty ? nil : storedRecord(for: identity)
        return shared.reduce(into: [:]) { $0[$1.name] = $1.generationsAtStart(of: identity, stored: stored) }
    }

    /// Removes entries from memory immediately and from the disk later; returns the entries removed from memory.
    @discardableResult
    func forget(_ identity: SourceIdentity, cause: PurgeCause) -> RemovedEntries {
        recordChange(of: identity)
        let removed = local.reduce(RemovedEntries()) { $0 + $1.forget(.sources([identity])) }
        if removed.entries > 0 {
            events.record(.purge(url: identity.name, entries: removed.entries, bytes: removed.bytes, cause: cause))
        }
        return removed
    }

    func forgetShared(_ identity: SourceIdentity, isKnown: Bool) {
        for layer in shared where isKnown || layer.mayHold(unknown: identity) { layer.forget(.sources([identity])) }
    }

    /// Starts with memory, because results are stored only while their records are in memory.
    func purgeLocal(_ removal: Removal) async -> RemovedEntries {
        switch removal {
        case .sources(let identities, _): identities.forEach(recordChange)
        case .value, .tagged: break
        case .everything:
            changes.withLock { $0.recordAll() }
            tagIndex.withLock { $0.forgetAll() }
        }
        var removed = RemovedEntries()
        for layer in local { removed = removed + (await layer.purge(removal)).entries }
        return removed
    }

    /// Purges from the slowest layer up, so that no lookup copies a purged value back; returns the worst state.
    func purgeShared(_ removal: Removal) async -> RemovalState {
        var state = RemovalState.done
        for layer in shared.reversed() { state = max(state, (await layer.purge(removal)).state) }
        return state
    }

    /// Bytes of keys, records and tags; `SharedBytes` does not count them.
    package var byteCountBesideBlocks: Int { memory.byteCountBesideBlocks + tagIndex.withLock(\.byteCount) }

    package func evict(_ step: MemoryBudget.Eviction) -> Int { memory.evict(step) }

    /// The caches of this instance, in the documented order.
    var statistics: [NamedCache] { all.flatMap(\.health.caches) }
}
