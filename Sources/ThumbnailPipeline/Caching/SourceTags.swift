import Coordination
import Downloading
import Text

/// The tags under which sources are asked for, in memory and in the layers below.
final class SourceTags: Sendable {
    private let book = Locked(TagBook())
    private let disk: PipelineDisk?
    private let layers: [SharedTier]
    private let memory: MemoryCaches
    private let changes: Locked<SourceChanges>

    /// No tags; sources whose tags are dropped leave `memory`, which changes them.
    init(_ memory: MemoryCaches, _ changes: Locked<SourceChanges>, disk: PipelineDisk?, layers: [SharedTier]) {
        (self.memory, self.changes, self.disk, self.layers) = (memory, changes, disk, layers)
    }

    /// Bytes of memory that they take, roughly.
    var byteCount: Int { book.withLock(\.byteCount) }

    /// Notes that a source is asked for under tags.
    ///
    /// Called before it is looked for, so that a purge finds what is under way, and when it is there, because a purge
    /// in between has forgotten its tags.
    func note(_ new: [ExactText], of identity: SourceIdentity) {
        guard !new.isEmpty, !identity.isGiven else { return }
        let noted = book.withLock { $0.note(new, of: identity) }
        for source in noted.dropped {
            changes.withLock { $0.note(source) }
            _ = memory.removeAll(from: source)
        }
        tell(noted.added, of: identity)
    }

    /// Has the layers below memory note all tags of a source: with each of its records.
    func tell(of identity: SourceIdentity) { tell(book.withLock { $0.tags(of: identity) }, of: identity) }

    private func tell(_ tags: [ExactText], of identity: SourceIdentity) {
        guard !tags.isEmpty else { return }
        disk?.note(tags, of: identity)
        for layer in layers { layer.note(tags, of: identity) }
    }

    /// The sources that this instance knows to have been asked for under a tag, in memory.
    func sources(under tag: ExactText) -> Set<SourceIdentity> { book.withLock { $0.sources(under: tag) } }

    /// Forgets the tags of a purged source: it has none until it is asked for again.
    func forget(_ identity: SourceIdentity) { book.withLock { $0.forget(identity) } }

    /// Forgets all tags.
    func forgetAll() { book.withLock { $0.forgetAll() } }
}
