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
        /// A page of the log, from a place on.
        case page(from: [UInt8]?, Reading?, Purpose)
        /// A removal, and for the last one of several the purpose of sending them.
        case removal(DueRemovals.Entry, found: TaggedSources = TaggedSources(), Purpose?)
        /// A page of the sources that were asked for under a tag.
        case members(TagRemoval, DueRemovals.Entry, found: TaggedSources, Purpose?)
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
        case answer(FirstAnswer<Bool>, Bool)
        /// Close the connection, because the server refuses what it is for.
        case refuse(String)
        /// Ask how quick the server is.
        case probe
    }

    /// The sources that the server knows under a tag, as far as they were read.
    struct TaggedSources {
        private(set) var sources: Set<NamedSource> = []
        /// Whether there was room for all of them.
        private(set) var isComplete = true
        private var room = TagRemovalRoom()

        /// Adds a page of them.
        mutating func add(_ page: [NamedSource]) {
            for source in page where !sources.contains(source) {
                guard room.take(source.name) else {
                    isComplete = false
                    return
                }
                sources.insert(source)
            }
        }
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
    }

    /// An entry of the log.
    private struct Entry {
        let id: [UInt8]
        let notice: PurgeNotice?
        /// Whether it is neither a purge nor an empty entry of ``mended(_:isEmpty:)``.
        let isForeign: Bool

        init?(_ reply: Reply, _ seal: SharedSeal) {
            guard let parts = reply.elements, parts.count == 2, let id = parts[0].text, !id.isEmpty, id.count <= 64,
                let fields = parts[1].elements
            else { return nil }
            self.id = id
            let payload = fields.count >= 2 ? fields[1].text : nil
            notice = payload.flatMap { PurgeNotice($0, seal) }
            isForeign = notice == nil && payload?.isEmpty != true
        }
    }

    private static let pageLength = 500
    /// Sealed purges in a full log, at least: instances that mend a log write some of them twice.
    private static let provenLength = PurgeMemory.capacity / 2
    private static let first = "-".sentBytes
    /// Keys that are looked at in one step, when all values are dropped.
    private static let sweptKeys = 500

    private let seal: SharedSeal
    private let isReadOnly: Bool
    private var known = PurgeMemory()
    private(set) var due = DueRemovals()
    /// The last entry of the log that was read.
    private var position: [UInt8]?
    /// Whether the position is that of an earlier process, and the log has not been read since.
    private var isOfEarlierProcess: Bool

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
        [page(from: position, position == nil ? Reading() : nil, purpose)]
    }

    /// Takes the replies to commands; nil if the connection ended before them.
    mutating func answered(_ question: Question, _ replies: [Reply]?) -> [Action] {
        switch question {
        case .page(let start, let reading, let purpose):
            guard let replies else { return [] }
            // A server that refuses is of no use: without the log, purges would be missed.
            guard let page = replies.last?.elements else {
                return [.refuse(replies.last?.failure ?? "no answer to XRANGE")]
            }
            return read(page, from: start, reading, purpose)
        case .removal(let entry, let found, let purpose): return delivered(entry, found, replies, purpose)
        case .members(let removal, let entry, let found, let purpose):
            return gathered(removal, entry, found, replies, purpose)
        case .sweep: return swept(replies)
        case .other: return []
        }
    }

    /// Takes a purge of another instance; each is done once.
    mutating func learn(_ notice: PurgeNotice) -> [Action] { known.note(notice) ? [.purge(notice)] : [] }

    /// A question for a page.
    ///
    /// - Parameter reading: The notices since the beginning of the log; nil if the log is read from a later place.
    private func page(from start: [UInt8]?, _ reading: Reading?, _ purpose: Purpose) -> Action {
        var command = TierCommand()
        if !isReadOnly { command.add(newGeneration) }
        command.add("XRANGE", TierNames.log, start ?? Self.first, "+", "COUNT", Self.pageLength)
        return .send(command, .page(from: start, reading, purpose))
    }

    private mutating func read(
        _ page: [Reply], from start: [UInt8]?, _ reading: Reading?, _ purpose: Purpose
    ) -> [Action] {
        let entries = page.compactMap { Entry($0, seal) }
        if reading == nil, entries.first?.id != start {
            // It is not the log that was read, or has dropped the place. What an earlier process had missed then,
            // nobody may know any more.
            defer { position = nil }
            return [self.page(from: nil, Reading(hasLostPlace: isOfEarlierProcess), purpose)]
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
                return actions + note + [self.page(from: last, reading, purpose)]
            }
            if let reading { actions += mended(reading, isEmpty: false) }
            if isNews || reading?.hasLostPlace == true { actions.append(.note(position: last)) }
        } else if let reading {
            actions += mended(reading, isEmpty: start == nil)
        }
        isOfEarlierProcess = false
        switch purpose {
        case .join, .poll: return actions + deliver(for: purpose)
        case .tell(let answer): return actions + [.answer(answer, true)]
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
        return gap + [.send(command, .other)]
    }

    // MARK: Removals

    /// Adds a removal, and sends it if the server is connected; else it will be sent.
    mutating func add(
        _ removal: DueRemovals.Removal, _ answer: FirstAnswer<Bool>?, isConnected: Bool
    ) -> [Action] {
        if case .purge(let notices) = removal { for notice in notices { _ = known.note(notice) } }
        guard due.add(removal, answer: answer) else { return answer.map { [.answer($0, false)] } ?? [] }
        return isConnected ? deliver() : answer.map { [.answer($0, true)] } ?? []
    }

    /// Sends the removals that are due; those that the server refuses stay due.
    private mutating func deliver(for purpose: Purpose? = nil) -> [Action] {
        let entries = due.takeUnsent()
        guard let last = entries.last else { return ended(purpose) }
        return entries.map { entry in
            let purpose = entry.number == last.number ? purpose : nil
            guard case .tagged(let removal) = entry.removal else {
                return .send(command(for: entry.removal), .removal(entry, purpose))
            }
            return Self.members(
                of: removal, from: Self.sweepStart, .members(removal, entry, found: TaggedSources(), purpose))
        }
    }

    /// Asks for a page of the sources that were asked for under a tag.
    private static func members(of removal: TagRemoval, from cursor: [UInt8], _ question: Question) -> Action {
        .send(
            TierCommand("SSCAN", removal.tag.name, cursor, "COUNT", pageLength),
            question)
    }

    /// Takes such a page; after the last one, the sources are purged.
    private mutating func gathered(
        _ removal: TagRemoval, _ entry: DueRemovals.Entry, _ found: TaggedSources, _ replies: [Reply]?,
        _ purpose: Purpose?
    ) -> [Action] {
        guard let parts = replies?.first?.elements, parts.count == 2, let next = parts[0].text,
            let page = parts[1].elements
        else {
            due.putBack(entry.number)
            return replies == nil ? [] : ended(purpose)
        }
        var found = found
        found.add(page.compactMap { $0.text.flatMap { NamedSource($0) } })
        guard next == Self.sweepStart || !found.isComplete else {
            return [Self.members(of: removal, from: next, .members(removal, entry, found: found, purpose))]
        }
        // The tag comes last: who hears of it has removed these sources by then, and looks for others.
        let notices = PurgeNotice.notices(of: Array(found.sources)) + [PurgeNotice(.tag(removal.tag))]
        for notice in notices { _ = known.note(notice) }
        return [.send(command(for: .purge(notices)), .removal(entry, found: found, purpose))]
    }

    private mutating func delivered(
        _ entry: DueRemovals.Entry, _ found: TaggedSources, _ replies: [Reply]?, _ purpose: Purpose?
    ) -> [Action] {
        guard let replies, Self.isDone(entry.removal, replies) else {
            due.putBack(entry.number)
            return replies == nil ? [] : ended(purpose)
        }
        var actions = [Action]()
        if case .tagged(let removal) = entry.removal { actions.append(.found(removal, found)) }
        if let answer = due.confirm(entry.number)?.answer { actions.append(.answer(answer, true)) }
        if case .everything = entry.removal { actions.append(Self.sweep(from: Self.sweepStart)) }
        return actions + ended(purpose)
    }

    private func ended(_ purpose: Purpose?) -> [Action] { if case .join = purpose { [.probe] } else { [] } }

    private static func isDone(_ removal: DueRemovals.Removal, _ replies: [Reply]) -> Bool {
        if case .everything = removal { return replies.first?.failure == nil }
        return replies.allSatisfy { $0.failure == nil }
    }

    /// Gives everything a generation if it has none.
    private var newGeneration: [any TierWord] {
        ["SET", TierNames.everything, Generation().text, "NX"]
    }

    private func command(for removal: DueRemovals.Removal) -> TierCommand {
        var command = TierCommand()
        switch removal {
        case .forget(let sources): command.add("DEL", keys: sources.map(\.generationName))
        case .purge(let notices):
            for notice in notices {
                // The log comes first: an instance that finds the next generation finds the purge in the log.
                command.add(Self.append(notice.written(seal)))
                if !notice.sources.isEmpty {
                    command.add("DEL", keys: notice.sources.map(\.generationName))
                }
                command.add("PUBLISH", TierNames.channel, notice.written(seal))
            }
        // Its sources are asked for first.
        case .tagged: break
        case .everything:
            command.add("DEL", TierNames.everything)
            // At once, so that what is fetched next can be shared; a full server refuses it, and the next look at the
            // log tries again.
            if !isReadOnly { command.add(newGeneration) }
        }
        return command
    }

    private static func append(_ payload: [UInt8]) -> [any TierWord] {
        [
            "XADD", TierNames.log, "MAXLEN", "~",
            PurgeMemory.capacity, "*", "p", payload,
        ]
    }

    // MARK: Values that nobody can find

    private static let sweepStart = "0".sentBytes

    /// Has the server look for values to drop, a few at a time.
    private static func sweep(from cursor: [UInt8]) -> Action {
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

/// The purges that this instance knows of, so that each is done once, and a log that was lost can be written again: a
/// plain value.
struct PurgeMemory {
    private var notices: [Generation: PurgeNotice] = [:]
    private var order: [Generation] = []

    /// Purges that the log keeps, and each instance as well.
    static let capacity = 4_096

    /// Notes a purge; false if it was known.
    mutating func note(_ notice: PurgeNotice) -> Bool {
        guard notices.updateValue(notice, forKey: notice.id) == nil else { return false }
        order.append(notice.id)
        // Half at a time, so that the array is seldom moved.
        if order.count > Self.capacity * 3 / 2 {
            for id in order.prefix(order.count - Self.capacity) { notices[id] = nil }
            order.removeFirst(order.count - Self.capacity)
        }
        return true
    }

    /// The latest purges that are not among `ids`, in order.
    func missing(in ids: Set<Generation>) -> [PurgeNotice] {
        order.suffix(Self.capacity).filter { !ids.contains($0) }.compactMap { notices[$0] }
    }
}
