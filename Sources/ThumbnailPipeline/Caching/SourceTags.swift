import Coordination
import Downloading
import Text

/// The tags under which sources are served, in memory and in the layers below.
final class SourceTags: Sendable {
    private let book = Locked(TagBook())
    private let allowances = Locked(TagAllowances())
    private let dropped = Locked(0)
    private let layers: CacheLayers
    private let memory: MemoryCaches
    private let changes: Locked<SourceChanges>
    private let timekeeper: any Timekeeper

    /// Creates an empty collection; sources whose tags are dropped are removed from `memory`, and recorded in
    /// `changes`.
    init(
        _ memory: MemoryCaches, _ changes: Locked<SourceChanges>, layers: CacheLayers, timekeeper: any Timekeeper
    ) {
        (self.memory, self.changes, self.layers) = (memory, changes, layers)
        self.timekeeper = timekeeper
    }

    /// The approximate memory use in bytes.
    var byteCount: Int { book.withLock(\.byteCount) }

    /// The number of tags dropped because their client added too many.
    var droppedCount: Int { dropped.withLock { $0 } }

    /// Serves a source under tags, and records them if that succeeds; meanwhile, a purge by these tags finds the
    /// source.
    func serving<Value>(
        _ identity: SourceIdentity, under tags: [ExactText], by client: ClientNetwork?,
        _ serve: () async throws -> Value
    ) async throws -> Value {
        guard !tags.isEmpty, !identity.isUpload else { return try await serve() }
        let missing = book.withLock { book in
            book.beginWait(for: identity, tags)
            return book.missing(tags, of: identity).tags
        }
        defer { book.withLock { $0.endWait(for: identity, tags) } }
        let beginnings = layers.begin(missing, of: identity)
        let value = try await serve()
        note(tags, of: identity, by: client, beginnings)
        return value
    }

    /// Records that a source is served under tags.
    ///
    /// - Parameter client: The client that supplied the tags; nil for trusted sources, which have no limit.
    func note(_ tags: [ExactText], of identity: SourceIdentity, by client: ClientNetwork?) {
        guard !tags.isEmpty, !identity.isUpload else { return }
        note(tags, of: identity, by: client, [:])
    }

    private func note(
        _ tags: [ExactText], of identity: SourceIdentity, by client: ClientNetwork?,
        _ beginnings: [LayerName: TagBeginnings]
    ) {
        var (new, known) = book.withLock { $0.missing(tags, of: identity) }
        guard !new.isEmpty else { return }
        if let client {
            let now = timekeeper.now
            let taken = allowances.withLock { Array($0.taken(new, known: known, by: client, at: now)) }
            if taken.count < new.count { dropped.withLock { $0 += new.count - taken.count } }
            new = taken
        }
        let noted = book.withLock { [new] in $0.note(new, of: identity) }
        for source in noted.dropped {
            changes.withLock { $0.note(source) }
            _ = memory.removeAll(from: source)
        }
        layers.note(noted.added, of: identity, since: beginnings)
    }

    /// Records all tags of a source in the layers below memory, along with each of its records.
    func tell(of identity: SourceIdentity) { layers.note(book.withLock { $0.tags(of: identity) }, of: identity) }

    func sources(under tag: ExactText) -> Set<SourceIdentity> { book.withLock { $0.sources(under: tag) } }

    /// Forgets the tags of a purged source: it has none until it is served again.
    func forget(_ identity: SourceIdentity) { book.withLock { $0.forget(identity) } }

    func forgetAll() { book.withLock { $0.forgetAll() } }
}
