import Coordination

/// An instance's knowledge of purges: those that were done, those that are due, and how far it has read the log.
struct PurgeDesk {
    let audience: PurgeAudience
    var memory = PurgeMemory()
    var due = DueRemovals()
    /// The last entry of the log that was read.
    private(set) var position: [UInt8]?
    /// Whether the position is that of an earlier process, and the log has not been read since.
    private var isOfEarlierProcess: Bool

    init(_ audience: PurgeAudience, position: [UInt8]?) {
        self.audience = audience
        self.position = position
        isOfEarlierProcess = position != nil
    }

    /// Notes how far the log has been read.
    mutating func moved(to id: [UInt8]) {
        isOfEarlierProcess = false
        guard id != position else { return }
        position = id
        audience.onPosition(id)
    }

    /// Notes that the log is not the one that was read, or has dropped the place.
    ///
    /// What an earlier process had missed then, nobody may know any more.
    mutating func lostPosition() {
        if isOfEarlierProcess { audience.onGap() }
        isOfEarlierProcess = false
        position = nil
    }

    /// Takes a purge of another instance; each is done once.
    ///
    /// - Returns: Whether it was not known.
    @discardableResult
    mutating func learn(_ notice: PurgeNotice) -> Bool {
        guard memory.note(notice) else { return false }
        audience.onPurge(notice.subject)
        return true
    }

    /// Adds what the server is to do; false if too much waits.
    mutating func add(_ removal: DueRemovals.Removal, _ answer: FirstAnswer<Bool>?) -> Bool {
        if case .purge(let notices) = removal { for notice in notices { _ = memory.note(notice) } }
        return due.add(removal, answer: answer)
    }
}

/// The log of purges, a stream on the server, and the removals that this instance sends.
extension TierThread {
    /// An entry of the log.
    private struct Entry {
        let id: [UInt8]
        let notice: PurgeNotice?

        init?(_ reply: Reply, _ seal: SharedSeal) {
            guard let parts = reply.elements, parts.count == 2, let id = parts[0].text, !id.isEmpty, id.count <= 64,
                let fields = parts[1].elements
            else { return nil }
            self.id = id
            notice = fields.count >= 2 ? fields[1].text.flatMap { PurgeNotice($0, seal) } : nil
        }
    }

    private static let pageLength = 500
    private static let first = [UInt8](word: "-")
    /// Keys that are looked at in one step, when all values are dropped.
    private static let sweptKeys = 500

    /// Reads the log from where it was left, and learns the purges in it; from its beginning if it is not the log that
    /// was read.
    func readLog(then done: @escaping () -> Void) {
        readLog(from: purges.position, reading: purges.position == nil ? LogReading() : nil, then: done)
    }

    /// Reads a page.
    ///
    /// - Parameter reading: The notices since the beginning of the log; nil if the log is read from a later place.
    private func readLog(from start: [UInt8]?, reading: LogReading?, then done: @escaping () -> Void) {
        var command = TierCommand()
        if !configuration.isReadOnly {
            command.add(newGeneration)
        }
        command.add(
            [UInt8](word: "XRANGE"), TierNames.log, start ?? Self.first, [UInt8](word: "+"), [UInt8](word: "COUNT"),
            [UInt8](word: String(Self.pageLength)))
        control.send(command, at: timekeeper.now) { [weak self] outcome in
            guard let self, case .replies(let replies) = outcome else { return }
            // A server that refuses is of no use: without the log, purges would be missed.
            guard let page = replies.last?.elements else {
                return control.refuse(replies.last?.failure ?? "no answer to XRANGE")
            }
            let entries = page.compactMap { Entry($0, seal) }
            if reading == nil, entries.first?.id != start {
                purges.lostPosition()
                return readLog(from: nil, reading: LogReading(), then: done)
            }
            var reading = reading
            // What stands at the place that was reached before has been done, by an earlier process perhaps.
            if reading == nil, let done = entries.first?.notice { _ = purges.memory.note(done) }
            reading?.entries.formUnion(entries.map(\.id))
            for notice in entries.compactMap(\.notice) {
                let isNew = purges.learn(notice)
                if reading?.ids.insert(notice.id).inserted == true, !isNew { reading?.holdsKnown = true }
            }
            if let last = entries.last { purges.moved(to: last.id) }
            if page.count >= Self.pageLength, let last = entries.last?.id, last != start {
                return readLog(from: last, reading: reading, then: done)
            }
            if let reading { finish(reading, isEmpty: entries.isEmpty && start == nil) }
            done()
        }
    }

    /// The contents of a log that is read from its beginning.
    private struct LogReading {
        /// The places of all entries, those without a purge as well.
        var entries: Set<[UInt8]> = []
        var ids: Set<Generation> = []
        /// Whether one of its purges was known.
        var holdsKnown = false
    }

    /// Writes the purges that are known here into a log that lacks them, because the one that had them is lost.
    private func finish(_ reading: LogReading, isEmpty: Bool) {
        // A full log may have dropped purges that this instance has not read.
        if reading.entries.count >= PurgeMemory.capacity, !reading.holdsKnown { purges.audience.onGap() }
        guard !configuration.isReadOnly else { return }
        let missing = purges.memory.missing(in: reading.ids)
        guard isEmpty || !missing.isEmpty else { return }
        var command = TierCommand()
        // An empty entry shows later that the log is still this one.
        if missing.isEmpty { command.add(Self.append([])) }
        for notice in missing { command.add(Self.append(notice.written(seal))) }
        control.send(command, at: timekeeper.now) { _ in }
    }

    /// Adds a removal, and sends it if the server is connected.
    func add(_ removal: DueRemovals.Removal, _ answer: FirstAnswer<Bool>?) {
        guard purges.add(removal, answer) else {
            // What cannot be forgotten one by one is forgotten with everything else.
            if case .forget = removal { purges.due.collapse() }
            answer?.give(false)
            return
        }
        guard health.state != .down else {
            answer?.give(true)
            return
        }
        deliver {}
    }

    /// Sends the removals that are due, and goes on when they are answered; those that the server refuses stay due.
    func deliver(then done: @escaping () -> Void) {
        let entries = purges.due.takeUnsent()
        guard let last = entries.last else { return done() }
        for entry in entries {
            let ended = { [weak self] (outcome: TierConnection.Outcome) in
                guard let self else { return }
                guard case .replies(let replies) = outcome, Self.isDone(entry.removal, replies) else {
                    purges.due.putBack(entry.number)
                    if case .replies = outcome, entry.number == last.number { done() }
                    return
                }
                purges.due.confirm(entry.number)?.answer?.give(true)
                if case .everything = entry.removal { sweep(from: [UInt8](word: "0")) }
                if entry.number == last.number { done() }
            }
            if case .tagged(let removal) = entry.removal {
                remove(removal, then: ended)
            } else {
                control.send(command(for: entry.removal), at: timekeeper.now, ended)
            }
        }
    }

    private static func isDone(_ removal: DueRemovals.Removal, _ replies: [Reply]) -> Bool {
        if case .everything = removal { return replies.first?.failure == nil }
        return replies.allSatisfy { $0.failure == nil }
    }

    /// Reads which sources were asked for under a tag, a page at a time, and purges them.
    private func remove(
        _ removal: TagRemoval, from cursor: [UInt8] = [UInt8](word: "0"), found: Set<NamedSource> = [],
        then ended: @escaping (TierConnection.Outcome) -> Void
    ) {
        let page = TierCommand(
            [UInt8](word: "SSCAN"), removal.tag.name, cursor, [UInt8](word: "COUNT"),
            [UInt8](word: "\(Self.pageLength)"))
        control.send(page, at: timekeeper.now) { [weak self] outcome in
            guard let self, case .replies(let replies) = outcome, let parts = replies[0].elements, parts.count == 2,
                let next = parts[0].text, let members = parts[1].elements
            else { return ended(outcome) }
            let found = found.union(members.compactMap { $0.text.flatMap { NamedSource($0) } })
            guard found.count <= TagRemoval.mostSources else {
                return control.send(command(for: .everything), at: timekeeper.now, ended)
            }
            guard next == [UInt8](word: "0") else { return remove(removal, from: next, found: found, then: ended) }
            // The tag comes last: who hears of it has removed these sources by then, and looks for others.
            let notices = PurgeNotice.notices(of: Array(found)) + [PurgeNotice(.tag(removal.tag))]
            for notice in notices { _ = purges.memory.note(notice) }
            control.send(command(for: .purge(notices)), at: timekeeper.now) { outcome in
                if case .replies = outcome { removal.onFound(Array(found)) }
                ended(outcome)
            }
        }
    }

    /// Gives everything a generation if it has none.
    private var newGeneration: [[UInt8]] {
        [[UInt8](word: "SET"), TierNames.everything, Generation().text, [UInt8](word: "NX")]
    }

    private func command(for removal: DueRemovals.Removal) -> TierCommand {
        var command = TierCommand()
        switch removal {
        case .forget(let sources): command.add([[UInt8](word: "DEL")] + sources.map(\.generationName))
        case .purge(let notices):
            for notice in notices {
                // The log comes first: an instance that finds the next generation finds the purge in the log.
                command.add(Self.append(notice.written(seal)))
                if !notice.sources.isEmpty {
                    command.add([[UInt8](word: "DEL")] + notice.sources.map(\.generationName))
                }
                command.add([UInt8](word: "PUBLISH"), TierNames.channel, notice.written(seal))
            }
        // Its sources are read first.
        case .tagged: break
        case .everything:
            command.add([UInt8](word: "DEL"), TierNames.everything)
            // At once, so that what is fetched next can be shared; a full server refuses it, and the next look at the
            // log tries again.
            if !configuration.isReadOnly { command.add(newGeneration) }
        }
        return command
    }

    private static func append(_ payload: [UInt8]) -> [[UInt8]] {
        [
            [UInt8](word: "XADD"), TierNames.log, [UInt8](word: "MAXLEN"), [UInt8](word: "~"),
            [UInt8](word: String(PurgeMemory.capacity)), [UInt8](word: "*"), [UInt8](word: "p"), payload,
        ]
    }

    /// Has the server drop values, which nobody can find any more, a few at a time.
    private func sweep(from cursor: [UInt8]) {
        let pattern = TierNames.values + [UInt8](word: "*")
        let command = TierCommand(
            [UInt8](word: "SCAN"), cursor, [UInt8](word: "MATCH"), pattern, [UInt8](word: "COUNT"),
            [UInt8](word: String(Self.sweptKeys)))
        control.send(command, at: timekeeper.now) { [weak self] outcome in
            guard let self, case .replies(let replies) = outcome, let parts = replies[0].elements, parts.count == 2,
                let next = parts[0].text, let found = parts[1].elements
            else { return }
            let names = found.compactMap(\.text).filter { $0.starts(with: TierNames.values) }
            if !names.isEmpty {
                control.send(TierCommand(words: [[UInt8](word: "UNLINK")] + names), at: timekeeper.now) { _ in }
            }
            if next != [UInt8](word: "0") { sweep(from: next) }
        }
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
