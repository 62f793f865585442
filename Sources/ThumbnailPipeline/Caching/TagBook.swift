import Coordination
import Downloading
import Text

/// The tags under which sources were served lately, and those of the requests under way: a plain value; the caches keep
/// it under a lock.
///
/// It is bounded. A source whose tags it drops must leave the caches beside it, so that nothing stays there that its
/// tags cannot find. A request drops no tags before its source is served, so that a source that does not exist takes
/// nothing from others.
struct TagBook {
    /// The sources of requests under way, by tag, with the number of requests.
    private var awaited: [ExactText: [SourceIdentity: Int]] = [:]
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
    static let cost = 384

    /// Bytes of memory that it takes, roughly.
    var byteCount: Int { count * Self.cost }

    /// Notes that a request under tags begins to wait for a source; ended by ``endWait(for:_:)``.
    mutating func beginWait(for source: SourceIdentity, _ tags: [ExactText]) {
        for tag in tags { awaited[tag, default: [:]][source, default: 0] += 1 }
    }

    /// Notes that such a request has ended.
    mutating func endWait(for source: SourceIdentity, _ tags: [ExactText]) {
        for tag in tags {
            guard let count = awaited[tag]?[source] else { continue }
            awaited[tag]?[source] = count > 1 ? count - 1 : nil
            if awaited[tag]?.isEmpty == true { awaited[tag] = nil }
        }
    }

    /// The tags among these that a source is not known to have, and how many it has.
    func missing(_ new: [ExactText], of source: SourceIdentity) -> (tags: [ExactText], known: Int) {
        guard let known = tags[source] else { return (new, 0) }
        return (new.filter { !known.contains($0) }, known.count)
    }

    /// Notes that a source was served under tags.
    ///
    /// - Returns: The tags that it was not known to have, and the sources that were dropped.
    mutating func note(
        _ new: [ExactText], of source: SourceIdentity
    ) -> (added: [ExactText], dropped: [SourceIdentity]) {
        var known = tags[source] ?? []
        let missing = missing(new, of: source).tags
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

    /// The sources under a tag, those that are waited for as well.
    func sources(under tag: ExactText) -> Set<SourceIdentity> {
        (sources[tag] ?? []).union((awaited[tag] ?? [:]).keys)
    }

    /// Forgets the tags of a source.
    mutating func forget(_ source: SourceIdentity) {
        guard let known = tags.removeValue(forKey: source) else { return }
        count -= known.count
        for tag in known {
            sources[tag]?.remove(source)
            if sources[tag]?.isEmpty == true { sources[tag] = nil }
        }
    }

    /// Forgets all tags of sources that were served.
    mutating func forgetAll() {
        let awaited = awaited
        self = TagBook()
        self.awaited = awaited
    }

    /// Drops places of forgotten sources when there are many.
    private mutating func compact() {
        guard order.count > 2 * Self.capacity else { return }
        var kept = Deque<SourceIdentity>()
        var seen: Set<SourceIdentity> = []
        for source in order.elements where tags[source] != nil && seen.insert(source).inserted { kept.append(source) }
        order = kept
    }
}
