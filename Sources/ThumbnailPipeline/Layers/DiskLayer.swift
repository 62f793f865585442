package import DiskCaching
import Downloading
import Memory
import Recipes
import Text

/// The layer on disk: sources, their records, and results.
///
/// A source is stored as two entries, because a validation changes only the record. Bytes are used only with a record
/// of the same version.
///
/// A result of several sources is stored under the image. Each additional source gets a small entry, the voucher, under
/// its name. It is removed with that source, and a result is valid only while all its vouchers exist.
package struct DiskLayer: CacheLayer {
    /// Increment it when the layout of entry heads changes or the same plan produces different bytes.
    package static let contentVersion = 12

    let store: DiskStore
    /// Release and library versions: others may encode the same plan to different bytes.
    private let versions: String
    let name = LayerName.disk
    let holdsSources = true

    package init(store: DiskStore, versions: String) {
        self.store = store
        self.versions = versions
    }

    var health: LayerHealth {
        let statistics = store.statistics
        let names: [(String, DiskPartition)] = [
            ("sourceDisk", .source), ("resultDisk", .result), ("recordDisk", .record),
        ]
        return LayerHealth(
            state: !statistics.isWorking ? .down : statistics.isFull ? .full : .up,
            caches: names.compactMap { name, partition in
                statistics.partitions[partition].map { NamedCache(name: name, statistics: CacheStatistics($0)) }
            }
        )
    }

    private func mayHold(_ key: CacheKey) -> Bool { !key.sources[0].isUpload }

    /// A result of several sources is valid only with a voucher for each additional source that matches its bytes.
    func lookup(_ key: CacheKey, newerThan stored: SourceRecord?, waits: LayerWaitBudgets) async -> LayerReply {
        // A record on disk is never newer than the one in memory.
        guard stored == nil, mayHold(key), let value = await store.entry(for: location(of: key)) else {
            return LayerReply()
        }
        for voucher in vouchers(of: key) {
            guard await store.entry(for: voucher)?.head == value.head else { return LayerReply() }
        }
        return LayerReply(value: LayerValue(value, for: key))
    }

    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool {
        guard mayHold(key), value.isComplete(of: records) else { return false }
        let value = value.encoded(of: records)
        let isQueued = store.store(value, for: location(of: key))
        // Written after the result, so that a voucher never matches an older result.
        for voucher in vouchers(of: key) { store.store(CacheValue(head: value.head), for: voucher) }
        return isQueued
    }

    func recordTags(_ tags: [ExactText], of identity: SourceIdentity, since checkpoints: TagCheckpoints) {
        store.recordTags(tags.map(\.string), of: identity.removalName, label: identity.name)
    }

    func sources(under tag: ExactText) async -> TaggedLabels { await store.labels(under: tag.string) }

    @discardableResult
    func forget(_ removal: Removal) -> RemovedEntries {
        switch removal {
        case .value(let key): store.forget(location(of: key))
        case .sources(let identities, _):
            for identity in identities { store.forgetAll(from: identity.removalName) }
        case .tagged, .everything: break
        }
        return RemovedEntries()
    }

    func purge(_ removal: Removal) async -> LayerRemoval {
        switch removal {
        case .value, .tagged: return LayerRemoval(entries: forget(removal))
        case .everything: return LayerRemoval(entries: RemovedEntries(await store.purgeEverything()))
        case .sources(let identities, _):
            var removed = LayerRemoval()
            for identity in identities {
                removed.entries = removed.entries + RemovedEntries(await store.purgeAll(from: identity.removalName))
            }
            return removed
        }
    }

    private func location(of key: CacheKey) -> DiskKey {
        switch key {
        case .record(let identity): location(in: .record, name: identity.storedName, of: identity)
        case .source(let version): location(in: .source, name: version.source.storedName, of: version.source)
        case .result(let key): location(in: .result, name: key.name(versions: versions), of: key.source)
        }
    }

    private func location(in partition: DiskPartition, name: [UInt8], of source: SourceIdentity) -> DiskKey {
        DiskKey(partition, name: name, source: source.removalName)
    }

    private func vouchers(of key: CacheKey) -> [DiskKey] {
        guard case .result(let key) = key, !key.additional.isEmpty else { return [] }
        let name = key.name(versions: versions)
        return key.additional.enumerated().map { index, version in
            var writer = RecordWriter()
            writer.write("voucher")
            writer.write(index)
            return location(in: .result, name: name + writer.bytes, of: version.source)
        }
    }
}
