import Coordination

/// Sources under tags that are there or being written, as far as is known, and those that wait to be written: a plain
/// value; ``TagWriter`` keeps it under its lock.
///
/// The queue has a bound of its own, so that no number of tags keeps results from being written.
struct TagNotes {
    /// A source under a tag that is to be written.
    struct Note {
        let source: NamedSource
        let tag: SharedTag
        /// The tag's state before the source was asked for; nil if that is not known.
        let beginning: TagBeginning?
    }

    private struct Member: Hashable {
        let source: SharedSource
        let tag: SharedTag
    }

    private var members: Set<Member> = []
    /// When the first of them was taken.
    private var begun = Duration.zero
    /// Generations of tags that are being asked for.
    private var reads = 0
    private var waiting = Deque<Note>()
    /// Bytes of memory that the waiting ones and those under way take.
    private(set) var byteCount = 0
    private(set) var writers = 0

    /// Most that is remembered; then it begins anew.
    private static let mostMembers = 1 << 15
    /// How long it is remembered: operators may remove what is old.
    private static let lifetime = Duration.seconds(86_400)
    /// Generations that are asked for at once; further ones are when their writes begin.
    private static let mostReads = 16
    /// Most bytes that wait, some 7,000 sources.
    static let mostBytes = 4 << 20
    /// Writes at once.
    private static let mostWriters = 2

    /// Whether the generation of a tag is to be asked for, before a source is: it is not known to be under the tag.
    ///
    /// Ended by ``endRead()``.
    mutating func beginRead(_ source: NamedSource, under tag: SharedTag, at now: Duration) -> Bool {
        forgetOld(now)
        guard reads < Self.mostReads, !members.contains(Member(source: source.source, tag: tag)) else { return false }
        reads += 1
        return true
    }

    /// Notes that a generation was given, or not.
    mutating func endRead() { reads -= 1 }

    /// Takes a source under a tag, which waits to be written if it is not known.
    ///
    /// - Returns: Whether there was room, and whether a writer is to be started.
    mutating func take(_ note: Note, at now: Duration) -> (isTaken: Bool, needsWriter: Bool) {
        forgetOld(now)
        let member = Member(source: note.source.source, tag: note.tag)
        guard !members.contains(member) else { return (true, false) }
        guard byteCount + note.source.queuedLength <= Self.mostBytes else { return (false, false) }
        members.insert(member)
        waiting.append(note)
        byteCount += note.source.queuedLength
        guard writers < Self.mostWriters else { return (true, false) }
        writers += 1
        return (true, true)
    }

    /// The next one to write; nil if there is none, so that a writer ends.
    mutating func next() -> Note? {
        if let note = waiting.popFirst() { return note }
        writers -= 1
        return nil
    }

    /// Notes that one was written, or could not be.
    mutating func end(_ note: Note, isDone: Bool) {
        byteCount -= note.source.queuedLength
        if !isDone { members.remove(Member(source: note.source.source, tag: note.tag)) }
    }

    /// Gives up those that wait; returns how many they are.
    mutating func giveUp() -> Int {
        for note in waiting.elements { byteCount -= note.source.queuedLength }
        defer { waiting = Deque() }
        return waiting.count
    }

    private mutating func forgetOld(_ now: Duration) {
        if members.count >= Self.mostMembers || now >= begun + Self.lifetime { (members, begun) = ([], now) }
    }
}
