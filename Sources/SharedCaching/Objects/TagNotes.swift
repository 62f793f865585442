import Coordination

/// The queue of sources to record under tags, and the records known to exist or being written: a plain value, guarded
/// by the lock of ``TagWriter``.
///
/// The queue has its own limit, so that tags never prevent results from being written.
struct TagNotes {
    /// A source to record under a tag.
    struct Note {
        let source: NamedSource
        let tag: SharedTag
        /// The tag's state before the source was requested; nil if unknown.
        let beginning: TagBeginning?
    }

    private struct Member: Hashable {
        let source: SharedSource
        let tag: SharedTag
    }

    private var members: Set<Member> = []
    /// The time at which the first of them was added.
    private var begun = Duration.zero
    /// The number of queries for generations of tags in progress.
    private var reads = 0
    private var waiting = Deque<Note>()
    /// The memory used by records waiting or being written, in bytes.
    private(set) var byteCount = 0
    private(set) var writers = 0

    /// The maximum number of remembered records; beyond it, all are forgotten.
    private static let maximumMembers = 1 << 15
    /// The time for which records are remembered: operators may delete old ones.
    private static let lifetime = Duration.seconds(86_400)
    /// The maximum number of early queries for generations; further ones follow when their writes begin.
    private static let maximumReads = 16
    /// The maximum size of waiting records in bytes, some 7,000 sources.
    static let maximumBytes = 4 << 20
    private static let maximumWriters = 2

    /// Returns whether to query the generation of a tag before the source: it is not known to be under the tag.
    ///
    /// Ended by ``endRead()``.
    mutating func beginRead(_ source: NamedSource, under tag: SharedTag, at now: Duration) -> Bool {
        forgetOld(now)
        guard reads < Self.maximumReads, !members.contains(Member(source: source.source, tag: tag)) else {
            return false
        }
        reads += 1
        return true
    }

    /// Records the end of a query, successful or not.
    mutating func endRead() { reads -= 1 }

    /// Queues a source under a tag, unless it is already known.
    ///
    /// - Returns: Whether there was room, and whether to start a writer.
    mutating func take(_ note: Note, at now: Duration) -> (isTaken: Bool, needsWriter: Bool) {
        forgetOld(now)
        let member = Member(source: note.source.source, tag: note.tag)
        guard !members.contains(member) else { return (true, false) }
        guard byteCount + note.source.queuedLength <= Self.maximumBytes else { return (false, false) }
        members.insert(member)
        waiting.append(note)
        byteCount += note.source.queuedLength
        guard writers < Self.maximumWriters else { return (true, false) }
        writers += 1
        return (true, true)
    }

    /// Returns the next record to write; nil if there is none, so that a writer ends.
    mutating func next() -> Note? {
        if let note = waiting.popFirst() { return note }
        writers -= 1
        return nil
    }

    mutating func end(_ note: Note, isDone: Bool) {
        byteCount -= note.source.queuedLength
        if !isDone { members.remove(Member(source: note.source.source, tag: note.tag)) }
    }

    /// Drops waiting records; returns their number.
    mutating func giveUp() -> Int {
        for note in waiting.elements { byteCount -= note.source.queuedLength }
        defer { waiting = Deque() }
        return waiting.count
    }

    private mutating func forgetOld(_ now: Duration) {
        if members.count >= Self.maximumMembers || now >= begun + Self.lifetime { (members, begun) = ([], now) }
    }
}
