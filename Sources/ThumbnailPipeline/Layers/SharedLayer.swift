import Coordination
package import Downloading
import Memory
import Recipes
import SharedCaching
import Text
import ThumbnailTypes

/// A layer shared by instances: results, records, and optionally the bytes of sources.
///
/// Does not store uploads, files from folders (their content may differ between machines), or responses marked
/// `private` or `no-store`. Keys include a digest of all settings that can change a response.
package final class SharedLayer: CacheLayer {
    package struct Rules: Sendable {
        /// A digest of every setting and library version that can change a response.
        package var digest: String
        package var staleAllowances = StaleAllowances()
        package var sharesSources = false

        package init(digest: String) { self.digest = digest }
    }

    let name: LayerName
    let store: SharedStore
    private let rules: Rules
    private let timekeeper: any Timekeeper
    private let checkpoints = Locked(
        BoundedMap<SourceIdentity, SharedGenerations>(maximumCount: 4_096, maximumWeight: 8 << 20))

    /// How long the generations of a requested source are remembered: longer than any request takes.
    private static let generationLifetime = Duration.seconds(60)

    init(_ name: LayerName, store: SharedStore, rules: Rules, timekeeper: any Timekeeper) {
        self.name = name
        self.store = store
        self.rules = rules
        self.timekeeper = timekeeper
    }

    var isUp: Bool { store.isUp }

    var health: LayerHealth { LayerHealth(state: LayerState(rawValue: store.statistics.state) ?? .down) }

    var isServer: Bool { store.isServer }

    var holdsSources: Bool { isServer && rules.sharesSources }

    var isShared: Bool { true }

    /// Stores a result later if a source has no generation yet, for example after an outage.
    func storeLater(
        _ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>, from caches: CacheLayers
    ) -> Bool {
        guard isServer, records.contains(where: { $0.generations[name] == nil }) else { return false }
        DeferredSharedWrite(caches: caches, layer: self).begin(result, for: key, of: records)
        return true
    }

    func mayHold(_ key: CacheKey) -> Bool { key.sources.allSatisfy(mayShare) }

    private func mayShare(_ identity: SourceIdentity) -> Bool {
        !identity.isUpload && identity.rules.mayShare(identity.url)
    }

    /// On a record miss also creates the source's generations, because the caller fetches the source next.
    func lookup(_ key: CacheKey, newerThan stored: SourceRecord?, waits: LayerWaitBudgets) async -> LayerReply {
        guard stored.map(mayHaveNewer) != false, let location = location(of: key) else { return LayerReply() }
        return read(
            await store.value(
                for: location.key, of: location.sources, createsGenerations: key.isRecord, allowance: waits[name]),
            for: key)
    }

    /// Sends a query without waiting for the reply.
    ///
    /// Returns whether the query was sent; otherwise `completion` is not called.
    func query(
        _ key: CacheKey, waits: LayerWaitBudgets, completion: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool {
        guard let location = location(of: key) else { return false }
        return store.query(
            location.key, of: location.sources, createsGenerations: key.isRecord, allowance: waits[name],
            completion: completion)
    }

    func read(_ reply: SharedReply, for key: CacheKey) -> LayerReply { read(store.verify(reply), for: key) }

    private func read(_ lookup: SharedLookup, for key: CacheKey) -> LayerReply {
        var generations: LayerGenerations = [:]
        if case .record(let identity) = key, let begun = lookup.generations?.first {
            let end = timekeeper.now + Self.generationLifetime
            _ = checkpoints.withLock {
                $0.insert(begun, for: identity.wildcard, weight: identity.byteCount + 512, until: end)
            }
            generations = [name: begun]
        }
        return LayerReply(
            value: lookup.value.flatMap { LayerValue($0, for: key, under: generations) },
            wasQueried: lookup.result != nil)
    }

    /// A server is always queried; an object store only if the stale record cannot be served.
    private func mayHaveNewer(_ stored: SourceRecord) -> Bool {
        if isServer { return true }
        let freshness = stored.freshness
        let allowed = freshness.staleWhileRevalidate ?? rules.staleAllowances.whileRevalidating
        return freshness.forbidsStale || -freshness.remainingLifetime(at: timekeeper.secondsSince1970) > allowed
    }

    /// The source's generations when it was requested; nil if unknown, so that its results stay local.
    func generationsAtStart(of identity: SourceIdentity, stored: SourceRecord?) -> SharedGenerations? {
        let now = timekeeper.now
        return checkpoints.withLock { $0.peek(identity.wildcard, at: now) } ?? stored?.generations[name]
    }

    /// Whether this layer may hold a source that memory does not know.
    func mayHold(unknown identity: SourceIdentity) -> Bool {
        isServer && generationsAtStart(of: identity, stored: nil) != nil
    }

    /// Reads or creates the generations of a source that was fetched while the server was unreachable.
    ///
    /// Reads the generations, then performs all earlier purges. If the caller still has the source after that, it was
    /// not purged in between. Nil if the server is unreachable again.
    func fetchGenerations(of identity: SourceIdentity) async -> SharedGenerations? {
        guard isUp, !store.isReadOnly, let location = location(of: .record(identity)) else { return nil }
        let lookup = await store.value(
            for: location.key, of: location.sources, createsGenerations: true, allowance: WaitBudget())
        guard let generations = lookup.generations?.first, await store.catchUpWithPurges() else { return nil }
        return generations
    }

    func store(_ value: LayerValue, for key: CacheKey, of records: PerSource<SourceRecord>) -> Bool {
        let generations = records.compactMap { $0.generations[name] }
        guard value.isComplete(of: records), let location = location(of: key) else { return false }
        guard generations.count == records.count else {
            store.countDropIfFull()
            return false
        }
        return store.store(
            value.encoded(of: records), for: location.key, of: location.sources, under: generations,
            seconds: records.map { timeToLive(of: $0) }.min() ?? 0)
    }

    func checkpoints(of tags: [ExactText], for identity: SourceIdentity) -> TagCheckpoints {
        guard mayShare(identity), let named = NamedSource(source(identity), name: identity.name) else { return [:] }
        return tags.reduce(into: [:]) { checkpoints, tag in
            checkpoints[tag] = SharedTag(tag.string).flatMap { store.checkpoint(of: $0, for: named) }
        }
    }

    func recordTags(_ tags: [ExactText], of identity: SourceIdentity, since checkpoints: TagCheckpoints) {
        guard mayShare(identity), let named = NamedSource(source(identity), name: identity.name) else { return }
        for tag in tags {
            guard let shared = SharedTag(tag.string) else { continue }
            store.record(shared, of: named, since: checkpoints[tag])
        }
    }

    @discardableResult
    func forget(_ removal: Removal) -> RemovedEntries {
        guard case .sources(let identities, _) = removal else { return RemovedEntries() }
        let shared = identities.filter(mayShare)
        checkpoints.withLock { for identity in shared { $0.remove(identity.wildcard) } }
        if !shared.isEmpty { store.forget(shared.map(source)) }
        return RemovedEntries()
    }

    func purge(_ removal: Removal) async -> LayerRemoval {
        switch removal {
        case .value: return LayerRemoval()
        case .tagged(let removal): return LayerRemoval(state: await store.purge(removal))
        case .everything:
            checkpoints.withLock { $0.removeAll() }
            return LayerRemoval(state: await store.purgeEverything())
        case .sources(let identities, let name):
            guard !identities.isEmpty else { return LayerRemoval() }
            checkpoints.withLock { for identity in identities { $0.remove(identity.wildcard) } }
            let sources = identities.compactMap { NamedSource(source($0), name: name?.string ?? $0.name) }
            let state = await store.purge(sources)
            return LayerRemoval(state: sources.count == identities.count ? state : .rejected)
        }
    }

    /// Repeats another instance's purge under this instance's rules, if they differ.
    func completePurge(of purged: NamedSource, as identity: SourceIdentity) {
        _ = checkpoints.withLock { $0.remove(identity.wildcard) }
        if source(identity) != purged.source { forget(.sources([identity])) }
    }

    /// Seconds for which the source is fresh or may be used stale.
    private func timeToLive(of record: SourceRecord) -> Int {
        let freshness = record.freshness
        let fresh = freshness.remainingLifetime(at: timekeeper.secondsSince1970)
        let stale = freshness.forbidsStale ? 0 : freshness.staleIfError ?? rules.staleAllowances.ifError
        return fresh.addingReportingOverflow(max(0, stale)).partialValue
    }

    private struct Location {
        let key: SharedKey
        let sources: [SharedSource]
    }

    private func location(of key: CacheKey) -> Location? {
        guard mayHold(key) else { return nil }
        let sources = key.sources
        var writer = RecordWriter()
        writer.write(key.kind)
        writer.write(DiskLayer.contentVersion)
        writer.write(rules.digest)
        let name = if case .result(let key) = key { key.name() } else { sources[0].storedName }
        return Location(key: SharedKey(of: writer.bytes + name), sources: sources.map(source))
    }

    private func source(_ identity: SourceIdentity) -> SharedSource { SharedSource(of: identity.removalName) }
}

extension CacheKey {
    fileprivate var isRecord: Bool { if case .record = self { true } else { false } }

    fileprivate var kind: String {
        switch self {
        case .record: "record"
        case .source: "source"
        case .result: "result"
        }
    }
}
