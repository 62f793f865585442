package import Coordination
import Downloading
import ImageCaching
import Memory
package import SharedCaching
import Text

/// The layers below memory, in the order in which they are looked up; nothing else depends on that order.
package struct CacheLayers: Sendable {
    /// Nil without a disk cache.
    let disk: DiskLayer?
    /// The shared cache; nil without one.
    let cache: SharedLayer?
    /// The result store; nil without one.
    let store: SharedLayer?

    /// Creates the layers on these stores; nil for those that the service does not have.
    package init(
        disk: DiskLayer? = nil, cache: SharedStore? = nil, store: SharedStore? = nil,
        rules: SharedLayer.Rules = SharedLayer.Rules(digest: ""), timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.disk = disk
        self.cache = cache.map { SharedLayer(.shared, $0, rules: rules, timekeeper: timekeeper) }
        self.store = store.map { SharedLayer(.store, $0, rules: rules, timekeeper: timekeeper) }
        shared = [self.cache, self.store].compactMap(\.self)
        own = [disk].compactMap(\.self)
        all = own + shared
    }

    /// All layers, the fastest first.
    let all: [any CacheLayer]
    /// The layers of this instance.
    let own: [any CacheLayer]
    /// The layers shared with other instances.
    let shared: [SharedLayer]

    // MARK: Values

    /// Stores a value in a layer if it may be there; returns whether the layer accepted it.
    ///
    /// The only rules for storing values below memory: nothing uploaded, nothing that an origin forbids a shared cache
    /// to store, nothing that lacks pixels, and in shared layers nothing that differs between machines.
    @discardableResult
    func store(
        _ value: CacheValue, for key: CacheKey, of records: PerSource<SourceRecord>, in layer: any CacheLayer
    ) -> Bool {
        if case .source = key, !layer.holdsSources { return false }
        guard records.allSatisfy({ $0.freshness.storability == .shared && $0.incompleteUntil == nil }),
            layer.mayHold(key)
        else { return false }
        return layer.store(value, for: key, of: records)
    }

    /// Stores the record of a source in all layers.
    func store(_ record: SourceRecord) {
        for layer in all { store(record, in: layer) }
    }

    /// Stores the record of a source in one layer.
    func store(_ record: SourceRecord, in layer: any CacheLayer) {
        store(CacheValue(head: record.written), for: .record(record.identity), of: PerSource(record), in: layer)
    }

    /// Stores the bytes of a source in all layers that hold sources.
    func store(_ bytes: SharedBytes, of record: SourceRecord) {
        let value = CacheValue(head: record.validator.written, body: bytes)
        for layer in all { store(value, for: .source(record.version), of: PerSource(record), in: layer) }
    }

    /// Returns the bytes of the version that a record describes.
    func bytes(of record: SourceRecord) async -> SharedBytes? {
        let key = CacheKey.source(record.version)
        for layer in all where layer.holdsSources {
            if let bytes = await layer.lookup(key, LayerAllowances()).bytes(of: record) { return bytes }
        }
        return nil
    }

    // MARK: Generations and tags

    /// Returns the generations of a source before it is fetched.
    func beginning(of identity: SourceIdentity, known: SourceRecord?) -> LayerGenerations {
        shared.reduce(LayerGenerations()) { generations, layer in
            generations.filled(from: LayerGenerations(layer.beginning(of: identity, known: known), of: layer.name))
        }
    }

    /// Begins a request for a source under tags; returns the state of each layer.
    func begin(_ tags: [ExactText], of identity: SourceIdentity) -> [LayerName: TagBeginnings] {
        tags.isEmpty ? [:] : all.reduce(into: [:]) { $0[$1.name] = $1.begin(tags, of: identity) }
    }

    /// Records that a source was served under tags.
    func note(
        _ tags: [ExactText], of identity: SourceIdentity, since beginnings: [LayerName: TagBeginnings] = [:]
    ) {
        guard !tags.isEmpty else { return }
        for layer in all { layer.note(tags, of: identity, since: beginnings[layer.name] ?? [:]) }
    }

    // MARK: Removals

    /// Queues the removal of everything derived from a source from the layers of this instance.
    func forgetOwn(_ identity: SourceIdentity) {
        for layer in own { layer.forget([identity]) }
    }

    /// Queues the removal of everything derived from a source from the shared layers; other instances keep their own
    /// copies.
    func forgetShared(_ identity: SourceIdentity) {
        for layer in shared { layer.forget([identity]) }
    }

    /// Removes entries from the layers of this instance.
    func removeOwn(_ removal: Removal) async -> RemovedEntries {
        var removed = RemovedEntries()
        for layer in own.reversed() { removed = removed + (await layer.remove(removal)).entries }
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

    /// Purges all sources requested under a tag, as ``purge(_:)`` does; `found` receives those that a layer knows, and
    /// whether they are all, possibly after this has returned.
    func purge(
        _ tag: SharedTag, found: @escaping @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void
    ) async -> RemovalState {
        var state = RemovalState.done
        for layer in shared.reversed() { state = max(state, await layer.purge(tag, found: found)) }
        return state
    }
}
