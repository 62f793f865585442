import Coordination
import Downloading
import Text

/// The tags under which sources were asked for lately: a plain value; the caches keep it under a lock.
///
/// It is bounded. A source whose tags it drops must leave the caches beside it, so that nothing stays there that its
/// tags cannot find.
struct TagBook {
    private var tags: [SourceIdentity: [ExactText]] = [:]
    private var sources: [ExactText: Set<SourceIdentity>] = [:]
    /// Sources in the order in which they came; those that were forgotten since are passed over.
    private var order = Deque<SourceIdentity>()
    /// Sources under tags, each counted once for each of its tags.
    private(set) var count = 0

    /// Most of these.
    static let capacity = 1 << 16
    /// Most tags of one source; then it is dropped and begins anew.
    static let mostTags = 64
    /// Bytes of memory that each takes, roughly.
    private static let cost = 384

    /// Bytes of memory that it takes, roughly.
    var byteCount: Int { count * Self.cost }

    /// Notes that a source was asked for under tags.
    ///
    /// - Returns: The tags that it was not known to have, and the sources that were dropped.
    mutating func note(
        _ new: [ExactText], of source: SourceIdentity
    ) -> (added: [ExactText], dropped: [SourceIdentity]) {
        var known = tags[source] ?? []
        let missing = new.filter { !known.contains($0) }
        guard !missing.isEmpty else { return ([], []) }
        var dropped: [SourceIdentity] = []
        if known.count + missing.count > Self.mostTags {
            forget(source)
            known = []
            dropped.append(source)
        }
        if known.isEmpty { order.append(source) }
        tags[source] = known + missing
        for tag in missing { sources[tag, default: []].insert(source) }
        count += missing.count
        while count > Self.capacity, let oldest = order.popFirst() {
            guard tags[oldest] != nil else { continue }
            forget(oldest)
            dropped.append(oldest)
        }
        compact()
        return (missing, dropped)
    }

    /// The tags of a source.
    func tags(of source: SourceIdentity) -> [ExactText] { tags[source] ?? [] }

    /// The sources under a tag.
    func sources(under tag: ExactText) -> Set<SourceIdentity> { sources[tag] ?? [] }

    /// Forgets the tags of a source.
    mutating func forget(_ source: SourceIdentity) {
        guard let known = tags.removeValue(forKey: source) else { return }
        count -= known.count
        for tag in known {
            sources[tag]?.remove(source)
            if sources[tag]?.isEmpty == true { sources[tag] = nil }
        }
    }

    /// Forgets everything.
    mutating func forgetAll() { self = TagBook() }

    /// Drops places of forgotten sources when there are many.
    private mutating func compact() {
        guard order.count > 2 * Self.capacity else { return }
        var kept = Deque<SourceIdentity>()
        var seen: Set<SourceIdentity> = []
        for source in order.elements where tags[source] != nil && seen.insert(source).inserted { kept.append(source) }
        order = kept
    }
}
