import DiskCaching
import Text

/// Saves each job as three notes: its items as lines, their outcomes, and the callback URL until it was called.
struct SavedPrefetchJobs: Sendable {
    struct SavedJob {
        let id: String
        let items: [PrefetchItem]
        let outcomes: [PrefetchJobs.Outcome]
        let callback: String?
    }

    private static let jobPrefix = "prefetch/job/"
    private static let outcomePrefix = "prefetch/outcome/"
    private static let callbackPrefix = "prefetch/callback/"

    private let store: DiskStore

    init(_ store: DiskStore) { self.store = store }

    func save(_ id: String, items: [PrefetchItem], callback: String?) async -> Bool {
        let outcomes = [UInt8](repeating: PrefetchJobs.Outcome.pending.rawValue, count: items.count)
        var notes = [
            DiskNote(name: Self.jobName(id), bytes: Array(items.map(Self.line).joined(separator: "\n").utf8)),
            DiskNote(name: Self.outcomeName(id), bytes: outcomes),
        ]
        if let callback { notes.append(DiskNote(name: Self.callbackName(id), bytes: Array(callback.utf8))) }
        return await store.store(notes)
    }

    /// Queues a write of the outcomes of a job's thumbnails, if the job itself is saved.
    func save(_ outcomes: [UInt8], of id: String) {
        store.replaceLater(DiskNote(name: Self.outcomeName(id), bytes: outcomes))
    }

    func forgetCallback(of id: String) { store.removeNotes([Self.callbackName(id)]) }

    func forget(_ id: String) { store.removeNotes([Self.jobName(id), Self.outcomeName(id), Self.callbackName(id)]) }

    func jobs() async -> [SavedJob] {
        let notes = Dictionary(
            await store.notes().map { (ExactText(String(decoding: $0.name, as: UTF8.self)), $0.bytes) },
            uniquingKeysWith: { $1 })
        return notes.keys.sorted().compactMap { name in
            guard let id = name.string.suffix(after: Self.jobPrefix).map(String.init) else { return nil }
            let text = String(decoding: notes[name] ?? [], as: UTF8.self)
            return SavedJob(
                id: id, items: text.utf8.split(separator: UInt8(ascii: "\n")).map { Self.item(Substring($0)) },
                outcomes: (notes[ExactText(Self.outcomePrefix + id)] ?? []).map {
                    PrefetchJobs.Outcome(rawValue: $0) ?? .pending
                },
                callback: notes[ExactText(Self.callbackPrefix + id)].map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// Joins target, destination and `Cache-Control` with tabs, which none of them contains.
    private static func line(_ item: PrefetchItem) -> String {
        [item.target, item.destination, item.cacheControl].compactMap(\.self).joined(separator: "\t")
    }

    private static func item(_ line: Substring) -> PrefetchItem {
        let members = line.split(separator: "\t", maxSplits: 2).map(String.init)
        return PrefetchItem(
            members.first ?? "", to: members.count > 1 ? members[1] : nil,
            cacheControl: members.count > 2 ? members[2] : nil)
    }

    private static func jobName(_ id: String) -> [UInt8] { Array((jobPrefix + id).utf8) }

    private static func callbackName(_ id: String) -> [UInt8] { Array((callbackPrefix + id).utf8) }

    private static func outcomeName(_ id: String) -> [UInt8] { Array((outcomePrefix + id).utf8) }
}
