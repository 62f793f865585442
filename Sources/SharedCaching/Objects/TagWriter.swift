import Coordination
import Memory

/// Records in a place which sources were served under tags, with a separate queue from values.
///
/// A source purged by its tag while being recorded is invalidated: a purge replaces the tag's generation before it
/// lists the sources, so either it finds this one, or the new generation is noticed here. If the request with the tag
/// had to wait for the source, the generation was read before that.
final class TagWriter: Sendable {
    private struct State {
        var notes = TagNotes()
        var written = 0
        var dropped = 0
        /// Completed when nothing is being written.
        var whenIdle: [OneTimeResult<Bool>] = []
    }

    private let place: any ObjectPlace
    private let seal: SharedSeal
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    /// Longer than a generation, so that a longer one is detected.
    static let maximumGenerationBytes = 64

    init(_ place: any ObjectPlace, seal: SharedSeal, timekeeper: any Timekeeper) {
        (self.place, self.seal, self.timekeeper) = (place, seal, timekeeper)
    }

    func add(to statistics: inout SharedStoreStatistics) {
        state.withLock { state in
            statistics.noteBytes = state.notes.byteCount
            (statistics.notes, statistics.droppedNotes) = (state.written, state.dropped)
        }
    }

    /// See ``SharedValueStore/begin(_:of:)``.
    func begin(_ tag: SharedTag, of source: NamedSource) -> TagBeginning? {
        guard state.withLock({ $0.notes.beginRead(source, under: tag, at: timekeeper.now) }) else { return nil }
        return TagBeginning(
            generation: Task.detached { [self] in
                defer { state.withLock { $0.notes.endRead() } }
                return try await generation(of: tag)
            })
    }

    /// Queues a record; `forget` invalidates a source.
    func write(_ note: TagNotes.Note, forget: @escaping @Sendable (SharedSource) -> Void) {
        let needsWriter = state.withLock { state in
            let (isTaken, needsWriter) = state.notes.take(note, at: timekeeper.now)
            if !isTaken { state.dropped += 1 }
            return needsWriter
        }
        guard needsWriter else { return }
        Task.detached { [self] in
            while let note = state.withLock({ $0.notes.next() }) {
                let isDone = (try? await keep(note, forget)) != nil
                state.withLock { state in
                    state.notes.end(note, isDone: isDone)
                    if isDone { state.written += 1 } else { state.dropped += 1 }
                }
            }
            let idle = state.withLock { state in
                guard state.notes.writers == 0 else { return [OneTimeResult<Bool>]() }
                defer { state.whenIdle = [] }
                return state.whenIdle
            }
            for answer in idle { answer.give(true) }
        }
    }

    /// Waits until nothing is being written, then drops the rest.
    func stop(timeLimit: Duration) async {
        let answer = OneTimeResult<Bool>()
        let isIdle = state.withLock { state in
            if state.notes.writers > 0 { state.whenIdle.append(answer) }
            return state.notes.writers == 0
        }
        if !isIdle { _ = await answer.value(within: timeLimit, by: timekeeper, or: false) }
        state.withLock { $0.dropped += $0.notes.giveUp() }
    }

    private func keep(_ note: TagNotes.Note, _ forget: (SharedSource) -> Void) async throws {
        let (source, tag) = (note.source, note.tag)
        let before: SharedBytes?
        if let asked = note.beginning {
            before = try await asked.generation.value
        } else {
            before = try await generation(of: tag)
        }
        try await place.keep(
            SharedBytes(source.written + seal.ofSources(under: tag).text(of: source.written)),
            named: ObjectNames.member(source.source, of: tag), isLasting: false)
        if before?.array != (try await generation(of: tag))?.array { forget(source.source) }
    }

    private func generation(of tag: SharedTag) async throws -> SharedBytes? {
        try await place.object(named: ObjectNames.generation(tag.label), atMost: Self.maximumGenerationBytes)
    }
}
