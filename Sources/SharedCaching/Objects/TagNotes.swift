/// Sources under tags that are there or being written, as far as is known: a plain value; the store keeps it under its
/// lock.
struct TagNotes {
    /// The step for a source that is asked for under a tag.
    enum Step {
        case nothing
        case write
        /// The generation of the tag is asked for at once, and it is written later.
        case askAndWrite
    }

    private struct Member: Hashable {
        let source: SharedSource
        let tag: SharedTag
    }

    private var members: Set<Member> = []
    /// When the first of them was taken.
    private var begun = Duration.zero
    /// Generations of tags that are asked for before what is written about them.
    private var reads = 0

    /// Most that is remembered; then it begins anew.
    private static let mostMembers = 1 << 15
    /// How long it is remembered: operators may remove what is old.
    private static let lifetime = Duration.seconds(86_400)
    /// Generations that are asked for at once; further ones are when their writes begin.
    private static let mostReads = 16

    /// Takes a source under a tag, which is to be written if it is not known.
    mutating func take(_ source: NamedSource, under tag: SharedTag, at now: Duration) -> Step {
        if members.count >= Self.mostMembers || now >= begun + Self.lifetime { (members, begun) = ([], now) }
        guard members.insert(Member(source: source.source, tag: tag)).inserted else { return .nothing }
        guard reads < Self.mostReads else { return .write }
        reads += 1
        return .askAndWrite
    }

    /// Notes that a generation was given, or not.
    mutating func endRead() { reads -= 1 }

    /// Forgets what could not be written.
    mutating func forget(_ source: NamedSource, under tag: SharedTag) {
        members.remove(Member(source: source.source, tag: tag))
    }
}
