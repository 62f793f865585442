import DiskCaching

/// How jobs are written down: one note with the targets, one with what has become of them.
struct PrefetchNotes: Sendable {
    /// A job as it was written down.
    struct Job {
        let id: String
        let targets: [String]
        let outcomes: [PrefetchJobs.Outcome]
    }

    private static let jobPrefix = "prefetch/job/"
    private static let outcomePrefix = "prefetch/outcome/"

    private let store: DiskStore

    init(_ store: DiskStore) {
        self.store = store
    }

    /// Writes a new job down, and returns when that is done.
    func keep(_ id: String, _ items: [PrefetchItem]) async {
        let text = items.map(\.target).joined(separator: "\n")
        _ = await store.keep(DiskNote(name: Array((Self.jobPrefix + id).utf8), bytes: Array(text.utf8)))
    }

    /// Writes down what has become of a job's thumbnails, by and by.
    func keep(_ id: String, outcomes: [UInt8]) {
        store.keepLater(DiskNote(name: Array((Self.outcomePrefix + id).utf8), bytes: outcomes))
    }

    /// Forgets a job.
    func forget(_ id: String) {
        for prefix in [Self.jobPrefix, Self.outcomePrefix] { store.removeNote(name: Array((prefix + id).utf8)) }
    }

    /// All jobs that are written down.
    func jobs() async -> [Job] {
        let notes = Dictionary(
            await store.notes().map { (String(decoding: $0.name, as: UTF8.self), $0.bytes) }, uniquingKeysWith: { $1 })
        return notes.keys.filter { $0.hasPrefix(Self.jobPrefix) }.sorted().map { name in
            let id = String(name.dropFirst(Self.jobPrefix.count))
            let text = String(decoding: notes[name] ?? [], as: UTF8.self)
            return Job(
                id: id, targets: text.split(separator: "\n").map(String.init),
                outcomes: (notes[Self.outcomePrefix + id] ?? []).map { PrefetchJobs.Outcome(rawValue: $0) ?? .left })
        }
    }
}
