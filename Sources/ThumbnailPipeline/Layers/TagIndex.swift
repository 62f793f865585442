import Coordination
import Downloading
import HTTPTypes
import Text

/// The tags under which sources were recently served, and those of requests in progress.
///
/// When a source is dropped from the index, it must also leave the caches, or a purge by tag would miss it. A request
/// drops others only after its source was served, so that requests for nonexistent sources evict nothing.
struct TagIndex {
    /// The number of waiting requests by tag and source.
    private var awaited: [ExactText: [SourceIdentity: Int]] = [:]
    private var tags = BoundedMap<SourceIdentity, [ExactText]>(maximumWeight: TagIndex.capacity)
    private var sources: [ExactText: Set<SourceIdentity>] = [:]
    static let capacity = 1 << 16
    /// Above this number of tags, a source is dropped from the index and the caches.
    static let maximumTags = 64
    /// Approximate bytes per pair of tag and source.
    static let cost = 384

    private var rateLimiter = TagRateLimiter()
    private(set) var droppedCount = 0

    var count: Int { tags.weight }

    var byteCount: Int { count * Self.cost }

    /// Registers a request until ``endWait(for:under:)``; returns the tags that are new for the source.
    mutating func beginWait(for source: SourceIdentity, under tags: [ExactText]) -> [ExactText] {
        for tag in tags { awaited[tag, default: [:]][source, default: 0] += 1 }
        return missing(tags, of: source)
    }

    mutating func endWait(for source: SourceIdentity, under tags: [ExactText]) {
        for tag in tags {
            guard let count = awaited[tag]?[source] else { continue }
            awaited[tag]?[source] = count > 1 ? count - 1 : nil
            if awaited[tag]?.isEmpty == true { awaited[tag] = nil }
        }
    }

    /// - Parameter client: The client whose tags are limited; nil for trusted tags.
    /// - Returns: The new tags, and the sources that were dropped.
    mutating func record(
        _ tags: [ExactText], of source: SourceIdentity, by client: ClientNetwork? = nil, at now: Duration = .zero
    ) -> (added: [ExactText], dropped: [SourceIdentity]) {
        let indexed = self.tags(of: source)
        var new = missing(tags, of: source)
        if let client, !new.isEmpty {
            let all = new.count
            new = Array(rateLimiter.admit(new, indexed: indexed.count, by: client, at: now))
            droppedCount += all - new.count
        }
        guard !new.isEmpty else { return ([], []) }
        let isOver = indexed.count + new.count > Self.maximumTags
        if isOver { forget(source) }
        for tag in new { sources[tag, default: []].insert(source) }
        let tags = isOver ? new : indexed + new
        let evicted = self.tags.insert(tags, for: source, weight: tags.count).filter { $0.key != source }
        for entry in evicted { forget(entry.value, of: entry.key) }
        return (new, (isOver ? [source] : []) + evicted.map(\.key))
    }

    private func missing(_ tags: [ExactText], of source: SourceIdentity) -> [ExactText] {
        let indexed = self.tags(of: source)
        return tags.filter { !indexed.contains($0) }
    }

    func tags(of source: SourceIdentity) -> [ExactText] { tags.peek(source) ?? [] }

    func sources(under tag: ExactText) -> Set<SourceIdentity> { (sources[tag] ?? []).union((awaited[tag] ?? [:]).keys) }

    mutating func forget(_ source: SourceIdentity) {
        if let entry = tags.remove(source) { forget(entry.value, of: source) }
    }

    private mutating func forget(_ tags: [ExactText], of source: SourceIdentity) {
        for tag in tags {
            sources[tag]?.remove(source)
            if sources[tag]?.isEmpty == true { sources[tag] = nil }
        }
    }

    mutating func forgetAll() {
        tags.removeAll()
        sources = [:]
    }
}
