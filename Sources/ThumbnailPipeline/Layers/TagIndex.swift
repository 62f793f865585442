import Coordination
import Downloading
import HTTPTypes
import Text

/// The tags under which sources were recently served, and those of requests in progress: a plain value, guarded by the
/// lock of ``CacheLayers``.
///
/// Its size is bounded. A source whose tags it drops must leave the caches beside it, so that no entry is unreachable
/// by its tags. A request drops no tags before its source is served, so that a nonexistent source evicts nothing.
struct TagIndex {
    /// The sources of requests in progress, by tag, with the number of requests.
    private var awaited: [ExactText: [SourceIdentity: Int]] = [:]
    /// The tags of sources, whose number is their weight.
    private var tags = BoundedMap<SourceIdentity, [ExactText]>(maximumWeight: TagIndex.capacity)
    private var sources: [ExactText: Set<SourceIdentity>] = [:]

    /// The maximum number of pairs.
    static let capacity = 1 << 16
    /// The maximum number of tags per source; beyond it, the source is dropped and starts over.
    static let maximumTags = 64
    /// The approximate memory use per pair in bytes.
    static let cost = 384

    private var allowances = TagAllowances()
    /// The number of tags dropped because their client added too many.
    private(set) var droppedCount = 0

    /// The number of pairs of source and tag.
    var count: Int { tags.weight }

    var byteCount: Int { count * Self.cost }

    /// Records that a request under tags waits for a source, until ``endWait(for:_:)``; returns the tags that are new
    /// for it.
    mutating func beginWait(for source: SourceIdentity, _ tags: [ExactText]) -> [ExactText] {
        for tag in tags { awaited[tag, default: [:]][source, default: 0] += 1 }
        return missing(tags, of: source)
    }

    mutating func endWait(for source: SourceIdentity, _ tags: [ExactText]) {
        for tag in tags {
            guard let count = awaited[tag]?[source] else { continue }
            awaited[tag]?[source] = count > 1 ? count - 1 : nil
            if awaited[tag]?.isEmpty == true { awaited[tag] = nil }
        }
    }

    /// Records that a source was served under tags.
    ///
    /// - Parameter client: The client that supplied the tags, which may add a limited number; nil for trusted ones.
    /// - Returns: The new tags, and the sources that were dropped.
    mutating func note(
        _ tags: [ExactText], of source: SourceIdentity, by client: ClientNetwork? = nil, at now: Duration = .zero
    ) -> (added: [ExactText], dropped: [SourceIdentity]) {
        let known = self.tags(of: source)
        var new = missing(tags, of: source)
        if let client, !new.isEmpty {
            let all = new.count
            new = Array(allowances.taken(new, known: known.count, by: client, at: now))
            droppedCount += all - new.count
        }
        guard !new.isEmpty else { return ([], []) }
        let isOver = known.count + new.count > Self.maximumTags
        if isOver { forget(source) }
        for tag in new { sources[tag, default: []].insert(source) }
        let now = isOver ? new : known + new
        let evicted = self.tags.insert(now, for: source, weight: now.count).filter { $0.key != source }
        for entry in evicted { forget(entry.value, of: entry.key) }
        return (new, (isOver ? [source] : []) + evicted.map(\.key))
    }

    private func missing(_ tags: [ExactText], of source: SourceIdentity) -> [ExactText] {
        let known = self.tags(of: source)
        return tags.filter { !known.contains($0) }
    }

    func tags(of source: SourceIdentity) -> [ExactText] { tags.peek(source) ?? [] }

    /// Returns the sources under a tag, including those being waited for.
    func sources(under tag: ExactText) -> Set<SourceIdentity> {
        (sources[tag] ?? []).union((awaited[tag] ?? [:]).keys)
    }

    mutating func forget(_ source: SourceIdentity) {
        if let entry = tags.remove(source) { forget(entry.value, of: source) }
    }

    private mutating func forget(_ tags: [ExactText], of source: SourceIdentity) {
        for tag in tags {
            sources[tag]?.remove(source)
            if sources[tag]?.isEmpty == true { sources[tag] = nil }
        }
    }

    /// Forgets all tags of served sources.
    mutating func forgetAll() {
        tags.removeAll()
        sources = [:]
    }
}
