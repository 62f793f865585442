import Coordination
import Downloading
import Text

/// The tags of sources, in memory and below.
extension PipelineCaches {
    /// Notes that a source is asked for under tags.
    ///
    /// Called before it is looked for, so that a purge finds what is under way, and when it is there, because a purge
    /// in between has forgotten its tags.
    func note(_ new: [ExactText], of identity: SourceIdentity) {
        guard !new.isEmpty, !identity.isGiven else { return }
        let noted = tags.withLock { $0.note(new, of: identity) }
        for source in noted.dropped {
            changes.withLock { $0.note(source) }
            _ = memory.removeAll(from: source)
        }
        if noted.isNew { tellTags(of: identity) }
    }

    /// Has the layers below memory note the tags of a source: when there are new ones, and with each of its records.
    func tellTags(of identity: SourceIdentity) {
        let known = tags.withLock { $0.tags(of: identity) }
        guard !known.isEmpty else { return }
        disk?.note(known, of: identity)
        for layer in layers { layer.note(known, of: identity) }
    }

    /// The sources that this instance knows to have been asked for under a tag, in memory.
    func sources(under tag: ExactText) -> Set<SourceIdentity> { tags.withLock { $0.sources(under: tag) } }

    /// Forgets the tags of purged sources: they have none until they are asked for again.
    func forgetTags(of identity: SourceIdentity) { tags.withLock { $0.forget(identity) } }
}
