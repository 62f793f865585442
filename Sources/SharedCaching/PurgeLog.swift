import Coordination

/// An instance's part in the purges of a fleet: how far it has read the log of purges, a stream on the server, which
/// purges it has done, and which removals the server has not confirmed.
///
/// A value. Its methods return what is to be done, in order.
struct PurgeLog {
    /// The end of a reading of the log.
    enum Purpose {
        /// The server has been connected: it is used when all that was missed is known, and all that is due is sent.
        case join
        /// Time has passed: what is due is sent.
        case poll
        /// A caller waits for the purges that were made before.
        case tell(FirstAnswer<Bool>)
    }

    /// Commands that were sent, whose replies go to ``answered(_:_:)``.
    enum Question {
        /// A page of the log, from a place on, after so many entries.
        case page(from: [UInt8]?, after: Int, Reading?, Purpose)
        /// A removal, and for the last one of several the purpose of sending them.
        case removal(DueRemovals.Entry, found: TaggedSources = TaggedSources(), Purpose?)
        /// A page of the sources that were asked for under a tag.
        case members(TagRemoval, DueRemovals.Entry, found: TaggedSources, Purpose?)
        /// Purges that the log lacked.
        case mend
        /// Names of values to be dropped.
        case sweep
        /// Writes whose replies tell nothing.
        case other
    }

    /// Something for the thread to do.
    enum Action {
        case send(TierCommand, Question)
        /// Do a purge of another instance.
        case purge(PurgeNotice)
        /// Tell which sources were made unreadable.
        case found(TagRemoval, TaggedSources)
        /// Purges were missed that nobody knows any more.
        case dropEverything
        /// Note how far the log has been read.
        case note(position: [UInt8])
        /// Tell a caller that all purges are known.
        case tell(FirstAnswer<Bool>)
        case answer(FirstAnswer<RemovalState>, RemovalState)
        /// Log why the log of purges is begun anew.
        case report(String)
        /// Close the connection, because the server refuses what it is for.
        case refuse(String)
        /// Ask how quick the server is.
        case probe
    }

    /// The contents of a log that is read from its beginning.
    struct Reading {
        /// Whether an earlier process had read the log up to a place that is gone.
        var hasLostPlace = false
        /// The places of all entries, those without a purge as well.
        var entries: Set<[UInt8]> = []
        /// The purges, each once.
        var ids: Set<Generation> = []
        /// Whether there are entries that no instance has written.
        var holdsForeign = false
        /// Whether one of its purges was known.
        var holdsKnown = false
        /// Whether the log was begun anew just before.
        var isRenewed = false
    }

    /// An entry of the log.
    private struct Entry {
        let id: [UInt8]
        let notice: PurgeNotice?
        /// Whether it is neither a purge nor an empty entry of ``mended(_:isEmpty:)``.
        let isForeign: Bool
        /// Whether it is so long that reading it again and again is expensive.
        let isOversized: Bool

        init?(_ reply: Reply, _ seal: SharedSeal) {
            guard let parts = reply.elements, parts.count == 2, let id = parts[0].text, !id.isEmpty, id.count <= 64,
                let fields = parts[1].elements
            else { return nil }
            self.id = id
            isOversized = fields.count > 16 || fields.contains(where: \.isLong)
            let payload = fields.count >= 2 ? fields[1].text : nil
            notice = payload.flatMap { PurgeNotice($0, seal) }
            isForeign = notice == nil && payload?.isEmpty != true
        }
    }

    static let pageLength = 500
    /// Sealed purges in a full log, at least: instances that mend a log write some of them twice.
    private static let provenLength = PurgeMemory.capacity / 2
    /// Entries that are read in a row at most: four times those of a full log.
    private static let longestLog = PurgeMemory.capacity * 4
    private static let first = "-".sentBytes
    /// Keys that are looked at in one step, when all values are dropped.
    private static let sweptKeys = 500

    let seal: SharedSeal
    let isReadOnly: Bool
    var known = PurgeMemory()
    var due = DueRemovals()
    /// The last entry of the log that was read.
    private var position: [UInt8]?
    /// Whether the position is that of an earlier process, and the log has not been read since.
    private var isOfEarlierProcess: Bool
    /// Whether others than instances have made the log such that it cannot be read or written: it is removed before it
    /// is read next, as if the server had lost it, and its purges are written again by those that know them.
    var isUnusable = false

    /// The part of an instance that has read the log up to `position`.
    init(_ seal: SharedSeal, isReadOnly: Bool, position: [UInt8]?) {
        self.seal = seal
        self.isReadOnly = isReadOnly
        self.position = position
        isOfEarlierProcess = position != nil
    }

    // MARK: Reading

    /// Reads the log from where it was left; from its beginning if it is not the log that was read.
    func read(for purpose: Purpose) -> [Action] {
        guard let position, !isUnusable else { return [readAll(for: purpose)] }
        return [page(from: position, after: 0, nil, purpose)]
    }

    private func readAll(for purpose: Purpose) -> Action {
        page(from: nil, after: 0, Reading(hasLostPlace: isOfEarlierProcess, isRenewed: isUnusable), purpose)
    }

    /// Takes the outcome of commands.
    mutating func answered(_ question: Question, _ outcome: TierConnection.Outcome) -> [Action] {
        let replies: [Reply]? = if case .replies(let replies) = outcome { replies } else { nil }
        let isUnreadable = if case .unreadable = outcome { true } else { false }
        switch question {
        case .page(let start, let count, let reading, let purpose):
            guard let replies else {
                // The connection has ended; the next one begins with a new log.
                return isUnreadable ? unusable("a reply that is too long", reading) : []
            }
            if reading?.isRenewed == true { isUnusable = false }
            // A server that refuses is of no use: without the log, purges would be missed.
            guard let page = replies.last?.elements else {
                let failure = replies.last?.failure ?? "no answer to XRANGE"
                return Self.isUnusable(failure) ? unusable(failure, reading, purpose) : [.refuse(failure)]
            }
            return repaired(replies) + read(page, from: start, after: count, reading, purpose)
        case .removal(let entry, let found, let purpose): return delivered(entry, found, replies, purpose)
        case .members(let removal, let entry, let found, let purpose):
            return gathered(removal, entry, found, replies, isUnreadable, purpose)
        case .mend: return replies.map { written($0) } ?? []
        case .sweep: return swept(replies)
        case .other: return []
        }
    }

    /// Takes a purge of another instance; each is done once.
    mutating func learn(_ notice: PurgeNotice) -> [Action] { known.note(notice) ? [.purge(notice)] : [] }

    /// A question for a page.
    ///
    /// - Parameter reading: The notices since the beginning of the log; nil if the log is read from a later place.
    private func page(from start: [UInt8]?, after count: Int, _ reading: Reading?, _ purpose: Purpose) -> Action {
        var command = TierCommand()
        if start == nil, isUnusable { command.add("DEL", TierNames.log) }
        if !isReadOnly {
            command.add(newGeneration)
            command.add("MGET", TierNames.everything)
        }
        command.add("XRANGE", TierNames.log, start ?? Self.first, "+", "COUNT", Self.pageLength)
        return .send(command, .page(from: start, after: count, reading, purpose))
    }

    /// Removes what stands under the name of the generation of everything and is none, so that the next question makes
    /// one: else no value would be found any more.
    private func repaired(_ replies: [Reply]) -> [Action] {
        guard !isReadOnly, let values = replies.suffix(2).first?.elements, let value = values.first,
            case .none? = replies.suffix(3).first, value.text?.count != Generation.length
        else { return [] }
        return [.send(TierCommand("DEL", TierNames.everything), .other)]
    }

    /// Whether a failure says that others than instances have written under a name: the value is of another type.
    static func isUnusable(_ failure: String) -> Bool { failure.hasPrefix("WRONGTYPE") }

    /// Has the log begun anew, and read for a purpose at once if there is one.
    private mutating func unusable(_ reason: String, _ reading: Reading?, _ purpose: Purpose? = nil) -> [Action] {
        isUnusable = true
        // Others write faster than it is read: the server is tried again later.
        guard reading?.isRenewed != true else { return [.refuse(reason)] }
        return [.report(reason)] + (purpose.map { [readAll(for: $0)] } ?? [])
    }

    private mutating func read(
        _ page: [Reply], from start: [UInt8]?, after count: Int, _ reading: Reading?, _ purpose: Purpose
    ) -> [Action] {
        let entries = page.compactMap { Entry($0, seal) }
        if reading == nil, entries.first?.id != start {
            // It is not the log that was read, or has dropped the place. What an earlier process had missed then,
            // nobody may know any more.
            defer { position = nil }
            return [readAll(for: purpose)]
        }
        guard !entries.contains(where: \.isOversized), count < Self.longestLog else {
            return unusable("entries that no instance wrote", reading, purpose)
        }
        var (actions, reading) = ([Action](), reading)
        // The purge at the place that was reached before has been done, by an earlier process perhaps.
        if reading == nil, let done = entries.first?.notice { _ = known.note(done) }
        reading?.entries.formUnion(entries.map(\.id))
        if entries.contains(where: \.isForeign) { reading?.holdsForeign = true }
        for notice in entries.compactMap(\.notice) {
            let news = learn(notice)
            if reading?.ids.insert(notice.id).inserted == true, news.isEmpty { reading?.holdsKnown = true }
            actions += news
        }
        if let last = entries.last?.id {
            let isNews = last != position
            position = last
            if page.count >= Self.pageLength, last != start {
                // Where everything may have to be dropped, the place is noted after that.
                let note: [Action] = isNews && reading?.hasLostPlace != true ? [.note(position: last)] : []
                return actions + note + [self.page(from: last, after: count + page.count, reading, purpose)]
            }
            if let reading { actions += mended(reading, isEmpty: false) }
            if isNews || reading?.hasLostPlace == true { actions.append(.note(position: last)) }
        } else if let reading {
            actions += mended(reading, isEmpty: start == nil)
        }
        isOfEarlierProcess = false
        switch purpose {
        case .join, .poll: return actions + deliver(for: purpose)
        case .tell(let answer): return actions + [.tell(answer)]
        }
    }

    /// Whether purges may have been missed that the log has dropped.
    ///
    /// A full log has, if none of its purges is known; so has one that is not the log that an earlier process read.
    /// If there is a key, entries without a seal prove nothing: anybody at the server can write as many as fill the
    /// log, to have everything dropped. Nor does a purge prove more if it is written again.
    private func isGap(_ reading: Reading) -> Bool {
        guard !reading.holdsKnown || reading.hasLostPlace else { return false }
        guard seal.hasKey else { return reading.hasLostPlace || reading.entries.count >= PurgeMemory.capacity }
        return reading.ids.count >= Self.provenLength || reading.hasLostPlace && !reading.holdsForeign
    }

    /// Writes the purges that are known here into a log that lacks them, because the one that had them is lost.
    private func mended(_ reading: Reading, isEmpty: Bool) -> [Action] {
        let gap: [Action] = isGap(reading) ? [.dropEverything] : []
        guard !isReadOnly else { return gap }
        let missing = known.missing(in: reading.ids)
        guard isEmpty || !missing.isEmpty else { return gap }
        var command = TierCommand()
        // An empty entry shows later that the log is still this one.
        if missing.isEmpty { command.add(Self.append([])) }
        for notice in missing { command.add(Self.append(notice.written(seal))) }
        return gap + [.send(command, .mend)]
    }

    // MARK: Values that nobody can find

    static let sweepStart = "0".sentBytes

    /// Has the server look for values to drop, a few at a time.
    static func sweep(from cursor: [UInt8]) -> Action {
        let pattern = TierNames.values + "*".sentBytes
        return .send(
            TierCommand("SCAN", cursor, "MATCH", pattern, "COUNT", sweptKeys),
            .sweep)
    }

    private func swept(_ replies: [Reply]?) -> [Action] {
        guard let parts = replies?.first?.elements, parts.count == 2, let next = parts[0].text,
            let found = parts[1].elements
        else { return [] }
        let names = found.compactMap(\.text).filter { $0.starts(with: TierNames.values) }
        var dropping = TierCommand()
        dropping.add("UNLINK", keys: names)
        return (names.isEmpty ? [] : [.send(dropping, .other)])
            + (next == Self.sweepStart ? [] : [Self.sweep(from: next)])
    }
}
