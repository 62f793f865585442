import Coordination
import Downloading
import Text

/// The tags under which sources were recently served, and those of requests in progress: a plain value, guarded by the
/// caches' lock.
///
/// Its size is bounded. A source whose tags it drops must leave the caches beside it, so that no entry is unreachable
/// by its tags. A request drops no tags before its source is served, so that a nonexistent source evicts nothing.
struct TagBook {
    /// The sources of requests in progress, by tag, with the number of requests.
    private var awaited: [ExactText: [SourceIdentity: Int]] = [:]
    private var tags: [SourceIdentity: [ExactText]] = [:]
    private var sources: [ExactText: Set<SourceIdentity>] = [:]
    /// Sources in order of arrival; those forgotten since are skipped.
    private var order = Deque<SourceIdentity>()
    /// The number of pairs of source and tag.
    private(set) var count = 0

    /// The maximum number of pairs.
    static let capacity = 1 << 16
    /// The maximum number of tags per source; beyond it, the source is dropped and starts over.
    static let maximumTags = 64
    /// The approximate memory use per pair in bytes.
    static let cost = 384

    var byteCount: Int { count * Self.cost }

    /// Records that a request under tags waits for a source; ended by ``endWait(for:_:)``.
    mutating func beginWait(for source: SourceIdentity, _ tags: [ExactText]) {
        for tag in tags { awaited[tag, default: [:]][source, default: 0] += 1 }
    }

    mutating func endWait(for source: SourceIdentity, _ tags: [ExactText]) {
        for tag in tags {
            guard let count = awaited[tag]?[source] else { continue }
            awaited[tag]?[source] = count > 1 ? count - 1 : nil
            if awaited[tag]?.isEmpty == true { awaited[tag] = nil }
        }
    }

    /// Returns the tags that are new for a source, and the number of tags that it has.
    func missing(_ new: [ExactText], of source: SourceIdentity) -> (tags: [ExactText], known: Int) {
        guard let known = tags[source] else { return (new, 0) }
        return (new.filter { !known.contains($0) }, known.count)
    }

    /// Records that a source was served under tags.
    ///
    /// - Returns: The new tags, and the sources that were dropped.
    mutating func note(
        _ new: [ExactText], of source: SourceIdentity
    ) -> (added: [ExactText], dropped: [SourceIdentity]) {
        var known = tags[source] ?? []
        let missing = missing(new, of: source).tags
        guard !missing.isEmpty else { return ([], []) }
        var dropped: [SourceIdentity] = []
        if known.count + missing.count > Self.maximumTags {
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

    func tags(of source: SourceIdentity) -> [ExactText] { tags[source] ?? [] }

    /// Returns the sources under a tag, including those being waited for.
    func sources(under tag: ExactText) -> Set<SourceIdentity> {
        (sources[tag] ?? []).union((awaited[tag] ?? [:]).keys)
    }

    mutating func forget(_ source: SourceIdentity) {
        guard let known = tags.removeValue(forKey: source) else { return }
        count -= known.count
        for tag in known {
            sources[tag]?.remove(source)
            if sources[tag]?.isEmpty == true { sources[tag] = nil }
        }
    }

    /// Forgets all tags of served sources.
    mutating func forgetAll() {
        let awaited = awaited
        self = TagBook()
        self.awaited = awaited
    }

    /// Removes forgotten sources from the order if there are many.
    private mutating func compact() {
        guard order.count > 2 * Self.capacity else { return }
        var kept = Deque<SourceIdentity>()
        var seen: Set<SourceIdentity> = []
        for source in order.elements where tags[source] != nil && seen.insert(source).inserted { kept.append(source) }
        order = kept
    }
}
