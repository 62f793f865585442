package import Coordination
import DiskCaching
package import Downloading
import Imaging
import Memory
package import SharedCaching
package import Text

/// A cache layer below memory, shared by instances: results, records of sources, and optionally the bytes of sources.
///
/// There is one instance for the shared cache and one for the result store.
///
/// It stores nothing uploaded, nothing from folders, which may differ between machines, and nothing that a shared cache
/// may not store. Keys include a digest of all settings that can change a response, so that instances with other
/// settings do not share entries.
package final class SharedTier: Sendable {
    /// The instance's use of the server.
    package struct Rules: Sendable {
        /// Changes with every setting and library that can change a response, or whether a source is allowed.
        package var digest: String
        /// Texts that change with the settings of the named origins, by name.
        package var originDigests: [ExactText: String] = [:]
        /// Returns whether a source may be fetched, judging by its name, and is the same on all machines.
        package var mayShare: @Sendable (SourceIdentity) -> Bool = { _ in true }
        /// The time for which stale sources may be used if their origin does not specify it.
        package var staleAllowances = StaleAllowances()
        /// Whether the bytes of sources are stored too.
        package var sharesSources = false

        package init(digest: String) {
            self.digest = digest
        }
    }

    struct Found<Value: Sendable>: Sendable {
        var value: Value?
        var wasAsked = false
    }

    enum Layer: Sendable {
        case cache, store
    }

    private enum Kind: String {
        case record, result, source
    }

    let layer: Layer
    let store: any SharedValueStore
    private let rules: Rules
    private let timekeeper: any Timekeeper
    /// The generations of sources about to be fetched.
    private let beginnings = Locked(
        ExpiringMemo<SourceIdentity, SharedGenerations>(capacity: 4_096, maximumBytes: 8 << 20))

    /// The time for which the generations of a requested source are remembered: longer than any request takes.
    private static let beginningTime = Duration.seconds(60)

    /// Creates a layer on the server of `cache`.
    package init(_ cache: SharedStore, rules: Rules, timekeeper: any Timekeeper) {
        layer = .cache
        store = cache
        self.rules = rules
        self.timekeeper = timekeeper
    }

    /// Creates a layer of results in `store`.
    package init(_ store: ObjectStore, rules: Rules, timekeeper: any Timekeeper) {
        layer = .store
        self.store = store
        self.rules = rules
        self.timekeeper = timekeeper
    }

    var isUp: Bool { store.isUp }

    var sharesSources: Bool { rules.sharesSources }

    // MARK: Lookups

    /// Returns the record of a source, which is fetched next if there is none.
    func record(of identity: SourceIdentity, _ allowance: WaitAllowance) async -> Found<SourceRecord> {
        guard let place = place(.record, identity) else { return Found() }
        let lookUp = await store.value(for: place.key, of: place.sources, isBeginning: true, allowance: allowance)
        return record(in: lookUp, of: identity)
    }

    /// Queries the record of a source as ``record(of:_:)`` does, without waiting.
    ///
    /// - Returns: Whether the query was sent; if not, `finish` is not called.
    func ask(
        forRecordOf identity: SourceIdentity, _ allowance: WaitAllowance,
        _ finish: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool {
        guard let place = place(.record, identity) else { return false }
        return store.ask(
            for: place.key, of: place.sources, isBeginning: true, allowance: allowance, finish)
    }

    func record(in reply: SharedReply, of identity: SourceIdentity) -> Found<SourceRecord> {
        record(in: store.checked(reply), of: identity)
    }

    private func record(in lookUp: SharedLookUp, of identity: SourceIdentity) -> Found<SourceRecord> {
        let generations = lookUp.generations?.first
        if let generations {
            let now = timekeeper.now
            beginnings.withLock {
                $0.remember(
                    generations, for: identity, bytes: identity.byteCount + 512, until: now + Self.beginningTime,
                    at: now)
            }
        }
        let record = lookUp.value.flatMap {
            SourceRecord($0.head, of: identity, under: LayerGenerations(generations, of: layer))
        }
        return Found(
            value: record?.freshness.storability == .shared ? record : nil, wasAsked: lookUp.result != nil)
    }

    /// Returns whether it is worth waiting for a newer record than this one, which is not fresh.
    ///
    /// For a nearby server it always is; for a store, only if the request cannot be answered with the stale record.
    func mayImprove(_ known: SourceRecord?) -> Bool {
        guard layer == .store, let freshness = known?.freshness else { return true }
        let allowed = freshness.staleWhileRevalidate ?? rules.staleAllowances.whileRevalidating
        return freshness.forbidsStale
            || -freshness.remainingLifetime(at: timekeeper.secondsSince1970) > allowed
    }

    /// Returns the bytes of the version that a record describes.
    func bytes(of record: SourceRecord, _ allowance: WaitAllowance) async -> SharedBytes? {
        guard sharesSources, let place = place(.source, record.identity) else { return nil }
        let lookUp = await store.value(for: place.key, of: place.sources, allowance: allowance)
        guard let value = lookUp.value, value.head == record.validator.written else { return nil }
        return value.body
    }

    func result(for key: ResultKey, _ allowance: WaitAllowance) async -> Found<RenderedImage> {
        guard let place = place(key) else { return Found() }
        return result(in: await store.value(for: place.key, of: place.sources, allowance: allowance), for: key)
    }

    /// Queries a result without waiting.
    ///
    /// - Returns: Whether the query was sent; if not, `finish` is not called.
    func ask(
        for key: ResultKey, _ allowance: WaitAllowance,
        _ finish: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool {
        guard let place = place(key) else { return false }
        return store.ask(
            for: place.key, of: place.sources, isBeginning: false, allowance: allowance, finish)
    }

    func result(in reply: SharedReply, for key: ResultKey) -> Found<RenderedImage> {
        result(in: store.checked(reply), for: key)
    }

    private func result(in lookUp: SharedLookUp, for key: ResultKey) -> Found<RenderedImage> {
        let result = lookUp.value.flatMap { RenderedImage($0.head, body: $0.body) }
        // A result of another format would be one of our values in the wrong place.
        return Found(value: result?.image.format == key.plan.format ? result : nil, wasAsked: lookUp.result != nil)
    }

    // MARK: Writes

    /// Returns the generations of a source before it is fetched; nil if they are unknown, so that nothing derived from
    /// it can be shared.
    func beginning(of identity: SourceIdentity, known: SourceRecord?) -> SharedGenerations? {
        let now = timekeeper.now
        return beginnings.withLock { $0.value(for: identity, at: now) } ?? known?.generations[layer]
    }

    /// Returns the generations for sharing something fetched while the server was unreachable.
    ///
    /// They are read first, and then all earlier purges are performed. If the caller still has the source after that,
    /// no purge has come in between. Nil if the server is unreachable again.
    func adoption(of identity: SourceIdentity) async -> SharedGenerations? {
        guard isUp, !store.isReadOnly, let place = place(.record, identity) else { return nil }
        let lookUp = await store.value(
            for: place.key, of: place.sources, isBeginning: true, allowance: WaitAllowance())
        guard let generations = lookUp.generations?.first, await store.learnPurges() else { return nil }
        return generations
    }

    func keep(_ record: SourceRecord) {
        keep(SharedValue(head: record.written, body: SharedBytes([UInt8]())), .record, of: record)
    }

    /// Shares the bytes of a source, if enabled.
    func keep(_ bytes: SharedBytes, of record: SourceRecord) {
        if sharesSources { keep(SharedValue(head: record.validator.written, body: bytes), .source, of: record) }
    }

    private func keep(_ value: SharedValue, _ kind: Kind, of record: SourceRecord) {
        guard let generations = record.generations[layer], let place = place(kind, record.identity) else { return }
        store.store(
            value, for: place.key, of: place.sources, under: [generations], seconds: timeToLive(of: record))
    }

    /// Shares a result; returns whether the write was started.
    func keep(_ result: RenderedImage, for key: ResultKey, of records: PerSource<SourceRecord>) -> Bool {
        let generations = records.compactMap { $0.generations[layer] }
        guard !result.isIncomplete, generations.count == records.count, let place = place(key) else { return false }
        let entry = result.entry
        return store.store(
            SharedValue(head: entry.head, body: entry.body), for: place.key, of: place.sources, under: generations,
            seconds: records.map { timeToLive(of: $0) }.min() ?? 0)
    }

    /// The states of tags before a source was requested under them.
    typealias TagBeginnings = [ExactText: TagBeginning]

    /// Begins a request for a source under tags.
    func begin(_ tags: [ExactText], of identity: SourceIdentity) -> TagBeginnings {
        guard mayShare(identity), let named = NamedSource(source(identity), name: identity.name) else { return [:] }
        return tags.reduce(into: [:]) { beginnings, tag in
            beginnings[tag] = SharedTag(tag.string).flatMap { store.begin($0, of: named) }
        }
    }

    /// Records that a source was served under tags.
    func note(_ tags: [ExactText], of identity: SourceIdentity, since beginnings: TagBeginnings) {
        guard mayShare(identity), let named = NamedSource(source(identity), name: identity.name) else { return }
        for tag in tags {
            guard let shared = SharedTag(tag.string) else { continue }
            store.note(shared, of: named, since: beginnings[tag])
        }
    }

    // MARK: Removals

    /// Invalidates all shared values of a source; other instances keep their own copies.
    func forget(_ identity: SourceIdentity) { forget([identity]) }

    /// Invalidates all shared values of sources; other instances keep their own copies.
    func forget(_ identities: some Collection<SourceIdentity>) {
        let shared = identities.filter(mayShare)
        guard !shared.isEmpty else { return }
        beginnings.withLock { for identity in shared { $0.forget(identity) } }
        store.forget(shared.map(source))
    }

    /// Invalidates all shared values of sources, and removes the sources from all other instances.
    ///
    /// - Parameter name: The source as named by the operator, if there is one; otherwise its own name is used.
    func purge(_ identities: some Collection<SourceIdentity>, name: ExactText? = nil) async -> RemovalState {
        guard !identities.isEmpty else { return .done }
        beginnings.withLock { for identity in identities { $0.forget(identity) } }
        let sources = identities.compactMap { NamedSource(source($0), name: name?.string ?? $0.name) }
        let state = await store.purge(sources)
        return sources.count == identities.count ? state : .refused
    }

    /// Purges all sources requested under a tag, as far as other instances know them.
    ///
    /// - Parameter found: Receives these sources, and whether the list is complete, possibly after this has returned.
    func purge(
        _ tag: SharedTag, found: @escaping @Sendable (_ sources: [NamedSource], _ isComplete: Bool) -> Void
    ) async -> RemovalState {
        await store.purge(TagRemoval(of: tag, onFound: found))
    }

    func purgeEverything() async -> RemovalState {
        beginnings.withLock { $0.removeAll() }
        return await store.purgeEverything()
    }

    /// Completes a purge of another instance: invalidates the shared values of the source under this instance's rules,
    /// if they differ.
    func finish(_ purged: NamedSource, _ identity: SourceIdentity) {
        beginnings.withLock { $0.forget(identity) }
        if source(identity) != purged.source { forget(identity) }
    }

    // MARK: Names

    /// Returns the time for which a value may be found in seconds: while its source is fresh, or stale copies may be
    /// used.
    private func timeToLive(of record: SourceRecord) -> Int {
        let freshness = record.freshness
        let fresh = freshness.remainingLifetime(at: timekeeper.secondsSince1970)
        let stale = freshness.forbidsStale ? 0 : freshness.staleIfError ?? rules.staleAllowances.ifError
        return fresh.addingReportingOverflow(max(0, stale)).partialValue
    }

    private func mayShare(_ identity: SourceIdentity) -> Bool { !identity.isGiven && rules.mayShare(identity) }

    /// The location of a value on the server, and its sources.
    private struct Place {
        let key: SharedKey
        let sources: [SharedSource]
    }

    /// Returns the location of the record or the bytes of a source; nil if it may not be shared.
    private func place(_ kind: Kind, _ identity: SourceIdentity) -> Place? {
        guard mayShare(identity) else { return nil }
        return Place(key: key(kind, name(of: identity)), sources: [source(identity)])
    }

    /// Returns the location of a result; nil if it may not be shared.
    private func place(_ key: ResultKey) -> Place? {
        let identities = [key.source] + key.additionalSources
        guard identities.allSatisfy(mayShare) else { return nil }
        return Place(key: self.key(.result, key.name(name(of:))), sources: identities.map(source))
    }

    /// Returns the name of a source in purges: the same for all instances that use the same URL.
    private func source(_ identity: SourceIdentity) -> SharedSource {
        var writer = RecordWriter()
        writer.write(identity.originName ?? "")
        writer.write(identity.url.canonical)
        return SharedSource(of: writer.bytes)
    }

    private func name(of identity: SourceIdentity) -> [UInt8] { identity.name(in: rules.originDigests) }

    private func key(_ kind: Kind, _ name: [UInt8]) -> SharedKey {
        var writer = RecordWriter()
        writer.write(kind.rawValue)
        writer.write(PipelineDisk.contentVersion)
        writer.write(rules.digest)
        return SharedKey(of: writer.bytes + name)
    }
}
