import Coordination

/// The purges of a fleet as one instance sees them; a plain value whose methods return the actions to perform in order.
///
/// Contains the position in the log of purges, a stream on the server, the purges performed by the instance, and the
/// removals that the server has not confirmed.
struct PurgeLog {
    enum Purpose {
        /// After a connection: the server is used once all missed purges are known and all pending removals sent.
        case join
        /// Sends pending removals periodically.
        case poll
        /// Reports to a caller that all earlier purges were performed.
        case catchUp(Promise<Bool>)
    }

    /// A read of the log, page by page.
    struct LogRead {
        let purpose: Purpose
        /// The last entry that was read; nil reads from the beginning.
        var start: [UInt8]?
        var entryCount = 0
        /// The notices since the beginning of the log; nil if reading starts at a later position.
        var reading: PurgeLogReading?
    }

    /// The delivery of one removal.
    struct Delivery {
        let entry: PendingRemovals.Entry
        /// The sources found under the removal's tag so far.
        var tagged = TaggedSources()
        /// The purpose that the last of several deliveries fulfills; nil for the others.
        var purpose: Purpose?
    }

    /// The meaning of the reply to a command.
    enum ExpectedReply {
        case page(LogRead)
        case removal(Delivery)
        /// A page of the sources under the removal's tag.
        case members(TagRemoval, Delivery)
        case repair
        case sweep
        case any
    }

    enum Action {
        case send(RedisCommand, expecting: ExpectedReply)
        case purge(PurgeNotice)
        case tagged(TagRemoval, TaggedSources)
        /// Drops all values, because missed purges are lost.
        case dropEverything
        case savePosition([UInt8])
        case caughtUp(Promise<Bool>)
        case fulfill(Promise<RemovalState>, RemovalState)
        case report(String)
        case fail(String)
        case probe
    }

    static let pageLength = 500
    /// The maximum number of entries to read: four times the length of a full log.
    private static let maximumLogLength = PurgeMemory.capacity * 4
    private static let first = "-".sentBytes
    /// The number of keys scanned per step when all values are dropped.
    private static let sweptKeys = 500

    let signer: SharedSigner
    let isReadOnly: Bool
    var processed = PurgeMemory()
    var pending = PendingRemovals()
    private var position: [UInt8]?
    /// Whether the position was saved by an earlier process, and the log has not been read since.
    private var isOfEarlierProcess: Bool
    /// Whether other programs have made the log unreadable or unwritable.
    ///
    /// It is then deleted before the next read, as if the server had lost it, and instances write their known purges
    /// again.
    var isUnusable = false

    /// - Parameter position: The last entry that the instance has read; nil to read the whole log.
    init(_ signer: SharedSigner, isReadOnly: Bool, position: [UInt8]?) {
        self.signer = signer
        self.isReadOnly = isReadOnly
        self.position = position
        isOfEarlierProcess = position != nil
    }

    /// Reads the log from the last position, or from the beginning if it is a different log.
    func read(for purpose: Purpose) -> [Action] {
        guard let position, !isUnusable else { return [readAll(for: purpose)] }
        return [readPage(LogRead(purpose: purpose, start: position))]
    }

    private func readAll(for purpose: Purpose) -> Action {
        let reading = PurgeLogReading(hasLostPosition: isOfEarlierProcess, isRenewed: isUnusable)
        return readPage(LogRead(purpose: purpose, reading: reading))
    }

    mutating func process(_ outcome: RedisConnection.Outcome, of expected: ExpectedReply) -> [Action] {
        let replies: [Reply]? = if case .replies(let replies) = outcome { replies } else { nil }
        let isUnreadable = if case .unreadable = outcome { true } else { false }
        switch expected {
        case .page(let read):
            guard let replies else {
                // The connection has ended; the next one starts with a new log.
                return isUnreadable ? markUnusable("a reply is too long", during: read, readsAgain: false) : []
            }
            return processRead(read, replies: replies)
        case .removal(let delivery): return finish(delivery, with: replies)
        case .members(let removal, let delivery):
            return collect(removal, for: delivery, replies: replies, isUnreadable: isUnreadable)
        case .repair: return replies.map { checkWrites($0) } ?? []
        case .sweep: return swept(replies)
        case .any: return []
        }
    }

    private mutating func processRead(_ read: LogRead, replies: [Reply]) -> [Action] {
        if read.reading?.isRenewed == true { isUnusable = false }
        // A server that rejects commands cannot be used: purges would be missed without the log.
        guard let page = replies.last?.elements else {
            let failure = replies.last?.failure ?? "no reply to XRANGE"
            return Self.isUnusable(failure) ? markUnusable(failure, during: read) : [.fail(failure)]
        }
        return repaired(replies) + processPage(page, of: read)
    }

    mutating func receive(_ notice: PurgeNotice) -> [Action] { processed.add(notice) ? [.purge(notice)] : [] }

    private func readPage(_ read: LogRead) -> Action {
        var command = RedisCommand()
        if read.start == nil, isUnusable { command.add("DEL", RedisNames.log) }
        if !isReadOnly {
            command.add(newGeneration)
            command.add("MGET", RedisNames.everything)
        }
        command.add("XRANGE", RedisNames.log, read.start ?? Self.first, "+", "COUNT", Self.pageLength)
        return .send(command, expecting: .page(read))
    }

    /// Deletes an invalid generation of everything, so that the next query creates one.
    ///
    /// Otherwise no value would be found from then on.
    private func repaired(_ replies: [Reply]) -> [Action] {
        guard !isReadOnly, let values = replies.suffix(2).first?.elements, let value = values.first,
            case .none? = replies.suffix(3).first, value.shortBytes?.count != Generation.length
        else { return [] }
        return [.send(RedisCommand("DEL", RedisNames.everything), expecting: .any)]
    }

    /// Whether another program has written a value of another type under the name.
    static func isUnusable(_ failure: String) -> Bool { failure.hasPrefix("WRONGTYPE") }

    private mutating func markUnusable(
        _ reason: String, during read: LogRead, readsAgain: Bool = true
    ) -> [Action] {
        isUnusable = true
        // Other programs write faster than the log is read, so the server is retried later.
        guard read.reading?.isRenewed != true else { return [.fail(reason)] }
        return [.report(reason)] + (readsAgain ? [readAll(for: read.purpose)] : [])
    }

    private mutating func processPage(_ page: [Reply], of read: LogRead) -> [Action] {
        let entries = page.compactMap { PurgeLogEntry($0, signer: signer) }
        if read.reading == nil, entries.first?.id != read.start {
            // This is not the log that was read, or it has dropped the position. Purges that an earlier process missed
            // may be lost.
            defer { position = nil }
            return [readAll(for: read.purpose)]
        }
        guard !entries.contains(where: \.isOversized), read.entryCount < Self.maximumLogLength else {
            return markUnusable("the log has entries that no instance wrote", during: read)
        }
        var actions = [Action]()
        var reading = read.reading
        // The purge at the previous position was already performed.
        if reading == nil, let done = entries.first?.notice { _ = processed.add(done) }
        for entry in entries {
            let purges = entry.notice.map { receive($0) } ?? []
            reading?.add(entry, isKnown: purges.isEmpty)
            actions += purges
        }
        if let last = entries.last?.id {
            let isNews = last != position
            position = last
            if page.count >= Self.pageLength, last != read.start {
                // If everything may have to be dropped first, the position is saved later.
                let note: [Action] = isNews && reading?.hasLostPosition != true ? [.savePosition(last)] : []
                var next = read
                next.start = last
                next.entryCount += page.count
                next.reading = reading
                return actions + note + [readPage(next)]
            }
            if let reading { actions += repairs(reading, isEmpty: false) }
            if isNews || reading?.hasLostPosition == true { actions.append(.savePosition(last)) }
        } else if let reading {
            actions += repairs(reading, isEmpty: read.start == nil)
        }
        isOfEarlierProcess = false
        switch read.purpose {
        case .join, .poll: return actions + deliver(for: read.purpose)
        case .catchUp(let promise): return actions + [.caughtUp(promise)]
        }
    }

    /// Writes known purges into a log that lacks them, because the previous log was lost.
    private func repairs(_ reading: PurgeLogReading, isEmpty: Bool) -> [Action] {
        let gap: [Action] = reading.isGap(signer) ? [.dropEverything] : []
        guard !isReadOnly else { return gap }
        let missing = processed.missing(in: reading.ids)
        guard isEmpty || !missing.isEmpty else { return gap }
        var command = RedisCommand()
        // An empty entry identifies the log later.
        if missing.isEmpty { command.add(Self.append([])) }
        for notice in missing { command.add(Self.append(notice.encoded(signer: signer))) }
        return gap + [.send(command, expecting: .repair)]
    }

    /// Deletes values a few keys at a time.
    static func sweep(from cursor: [UInt8]) -> Action {
        let pattern = RedisNames.values + "*".sentBytes
        return .send(RedisCommand("SCAN", cursor, "MATCH", pattern, "COUNT", sweptKeys), expecting: .sweep)
    }

    private func swept(_ replies: [Reply]?) -> [Action] {
        guard let page = ScanPage(replies?.first) else { return [] }
        let names = page.elements.compactMap(\.shortBytes).filter { $0.starts(with: RedisNames.values) }
        var unlinking = RedisCommand()
        unlinking.add("UNLINK", keys: names)
        return (names.isEmpty ? [] : [.send(unlinking, expecting: .any)])
            + (page.isLast ? [] : [Self.sweep(from: page.next)])
    }
}
