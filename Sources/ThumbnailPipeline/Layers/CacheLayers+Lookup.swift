import Coordination
import Downloading
import Telemetry
import ThumbnailTypes

extension CacheLayers {
    /// Returns the newest record of all layers; without `waits`, queries only this instance's layers.
    func lookUpRecord(
        for identity: SourceIdentity, waits: LayerWaitBudgets? = nil, after earlier: EarlierLookup? = nil
    ) async -> SourceRecord? {
        var stored = storedRecord(for: identity)
        if stored?.freshness.isMemoryOnly == true { return stored }
        let layers = waits == nil ? localBelowMemory : belowMemory[...]
        for layer in layers where layer.name != earlier?.recordLayer && mayHaveNewer(stored) {
            let read = RecordRead(of: identity, stored: stored, in: self)
            let reply = await lookup(
                .record(identity), newerThan: stored, in: layer, waits: waits ?? LayerWaitBudgets())
            stored = read.record(storing: reply)
        }
        return stored
    }

    func lookUpRecords(
        for sources: PerSource<SourceIdentity>, waits: LayerWaitBudgets, after earlier: EarlierLookup?
    ) async -> PerSource<SourceRecord?> {
        var records = PerSource(await lookUpRecord(for: sources.main, waits: waits, after: earlier))
        for identity in sources.additional {
            records.additional.append(await lookUpRecord(for: identity, waits: waits))
        }
        return records
    }

    func mayHaveNewer(_ stored: SourceRecord?) -> Bool {
        stored?.freshness.isFresh(at: timekeeper.secondsSince1970) != true && stored?.incompleteUntil == nil
    }

    func lookUpSource(for identity: SourceIdentity) async -> SourceCopy? {
        guard let record = await lookUpRecord(for: identity) else { return nil }
        for layer in belowMemory where layer.holdsSources {
            let key = CacheKey.source(record.version)
            guard let value = await layer.lookup(key).value, let bytes = value.source else { continue }
            guard isCurrent(record) else { return nil }
            store(value, for: key, of: PerSource(record), in: memory)
            return SourceCopy(head: record.head, bytes: bytes)
        }
        return nil
    }

    /// Looks up a result in the layers below memory; a result from a shared layer is not copied to the disk.
    func lookUpResult(
        for key: ResultKey, of records: PerSource<SourceRecord>, waits: LayerWaitBudgets, after earlier: EarlierLookup?
    ) async -> ResultLookup {
        var lookup = ResultLookup()
        for layer in belowMemory where !layer.isShared || isCurrent(records) {
            let reply =
                if let reply = earlier?.reply(of: layer.name, for: key) { reply } else {
                    await self.lookup(.result(key), in: layer, waits: waits)
                }
            lookup.add(reply, of: layer, for: key, records: records, in: self)
            if lookup.result != nil { break }
        }
        return lookup
    }

    /// Records a query of a shared layer in the request's trace.
    private func lookup(
        _ key: CacheKey, newerThan stored: SourceRecord? = nil, in layer: any CacheLayer, waits: LayerWaitBudgets
    ) async -> LayerReply {
        let begun = timekeeper.now
        let reply = await layer.lookup(key, newerThan: stored, waits: waits)
        if reply.wasQueried {
            RequestTrace.current?.record(
                "lookup", kind: .client, time: begun..<max(begun, timekeeper.now),
                attributes: [
                    ("alula.layer", .string(layer.name.status.rawValue)), ("alula.found", .bool(reply.value != nil)),
                ])
        }
        return reply
    }
}

struct ResultLookup {
    private(set) var result: RenderedImage?
    private(set) var isStored = false
    /// The outcomes of queries of shared layers.
    private(set) var shared: [CacheLayerStatus] = []
    /// The shared layers without the result, which are faster than the next one.
    private var misses: [any CacheLayer] = []

    /// Stores the result in memory and in the faster shared layers.
    mutating func add(
        _ reply: LayerReply, of layer: any CacheLayer, for key: ResultKey, records: PerSource<SourceRecord>,
        in caches: CacheLayers
    ) {
        result = reply.value?.result
        if reply.wasQueried {
            shared.append(CacheLayerStatus(layer.name.status, outcome: result == nil ? .uriMiss : .hit))
        }
        guard let result else {
            if layer.isShared { misses.append(layer) }
            return
        }
        for faster in misses { caches.storeResult(result, for: key, of: records, in: faster) }
        isStored = caches.storeResult(result, for: key, of: records, in: caches.memory)
    }
}
