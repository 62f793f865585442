import DiskCaching
import Text

/// Writes jobs down: one note with the targets, one with their outcomes.
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

    /// Writes a new job down, with the room that its outcomes will need; whether that could be done.
    func keep(_ id: String, _ targets: [String]) async -> Bool {
        let outcomes = [UInt8](repeating: PrefetchJobs.Outcome.left.rawValue, count: targets.count)
        return await store.keep([
            DiskNote(name: Self.jobName(id), bytes: Array(targets.joined(separator: "\n").utf8)),
            DiskNote(name: Self.outcomeName(id), bytes: outcomes),
        ])
    }

    /// Writes down the outcomes of a job's thumbnails, later, if the job itself is written down.
    func note(_ outcomes: [UInt8], of id: String) {
        store.replaceLater(DiskNote(name: Self.outcomeName(id), bytes: outcomes))
    }

    func forget(_ id: String) { store.removeNotes([Self.jobName(id), Self.outcomeName(id)]) }

    /// All jobs that are written down.
    func jobs() async -> [Job] {
        let notes = Dictionary(
            await store.notes().map { (ExactText(String(decoding: $0.name, as: UTF8.self)), $0.bytes) },
            uniquingKeysWith: { $1 })
        return notes.keys.sorted().compactMap { name in
            guard let id = name.string.suffix(after: Self.jobPrefix).map(String.init) else { return nil }
            let text = String(decoding: notes[name] ?? [], as: UTF8.self)
            return Job(
                id: id, targets: text.utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) },
                outcomes: (notes[ExactText(Self.outcomePrefix + id)] ?? []).map {
                    PrefetchJobs.Outcome(rawValue: $0) ?? .left
                })
        }
    }

    private static func jobName(_ id: String) -> [UInt8] { Array((jobPrefix + id).utf8) }

    private static func outcomeName(_ id: String) -> [UInt8] { Array((outcomePrefix + id).utf8) }
}
