import Coordination

/// An instance's part in the purges of a fleet: a plain value whose methods return the actions to perform, in order.
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

    /// The purpose of the reply to a command.
    enum ExpectedReply {
        /// Reads a page of the log from a position, after `after` entries.
        case page(from: [UInt8]?, after: Int, PurgeLogReading?, Purpose)
        /// Sends a removal. With a purpose, it is the last one.
        case removal(PendingRemovals.Entry, tagged: TaggedSources = TaggedSources(), Purpose?)
        case members(TagRemoval, PendingRemovals.Entry, tagged: TaggedSources, Purpose?)
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
    static let sweepStart = "0".sentBytes

    let signature: SharedSignature
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
    init(_ signature: SharedSignature, isReadOnly: Bool, position: [UInt8]?) {
        self.signature = signature
        self.isReadOnly = isReadOnly
        self.position = position
        isOfEarlierProcess = position != nil
    }

    /// Reads the log from the last position, or from the beginning if it is a different log.
    func read(for purpose: Purpose) -> [Action] {
        guard let position, !isUnusable else { return [readAll(for: purpose)] }
        return [readPage(from: position, after: 0, reading: nil, for: purpose)]
    }

    private func readAll(for purpose: Purpose) -> Action {
        readPage(
            from: nil, after: 0,
            reading: PurgeLogReading(hasLostPosition: isOfEarlierProcess, isRenewed: isUnusable), for: purpose)
    }

    mutating func process(_ outcome: RedisConnection.Outcome, of expected: ExpectedReply) -> [Action] {
        let replies: [Reply]? = if case .replies(let replies) = outcome { replies } else { nil }
        let isUnreadable = if case .unreadable = outcome { true } else { false }
        switch expected {
        case .page(let start, let count, let reading, let purpose):
            guard let replies else {
                // The connection has ended; the next one starts with a new log.
                return isUnreadable ? markUnusable("a reply is too long", reading: reading) : []
            }
            if reading?.isRenewed == true { isUnusable = false }
            // A server that rejects commands cannot be used: purges would be missed without the log.
            guard let page = replies.last?.elements else {
                let failure = replies.last?.failure ?? "no reply to XRANGE"
                return Self.isUnusable(failure)
                    ? markUnusable(failure, reading: reading, purpose: purpose) : [.fail(failure)]
            }
            return repaired(replies) + read(page, from: start, after: count, reading: reading, purpose: purpose)
        case .removal(let entry, let tagged, let purpose):
            return delivered(entry, tagged: tagged, replies: replies, purpose: purpose)
        case .members(let removal, let entry, let tagged, let purpose):
            return collect(
                removal, for: entry, after: tagged, replies: replies, isUnreadable: isUnreadable, purpose: purpose)
        case .repair: return replies.map { checkWrites($0) } ?? []
        case .sweep: return swept(replies)
        case .any: return []
        }
    }

    mutating func process(_ notice: PurgeNotice) -> [Action] { processed.add(notice) ? [.purge(notice)] : [] }

    /// - Parameter reading: The notices since the beginning of the log; nil if reading starts at a later position.
    private func readPage(
        from start: [UInt8]?, after count: Int, reading: PurgeLogReading?, for purpose: Purpose
    ) -> Action {
        var command = RedisCommand()
        if start == nil, isUnusable { command.add("DEL", RedisNames.log) }
        if !isReadOnly {
            command.add(newGeneration)
            command.add("MGET", RedisNames.everything)
        }
        command.add("XRANGE", RedisNames.log, start ?? Self.first, "+", "COUNT", Self.pageLength)
        return .send(command, expecting: .page(from: start, after: count, reading, purpose))
    }

    /// Deletes an invalid generation of everything, so that the next query creates one.
    ///
    /// Otherwise no value would be found from then on.
    private func repaired(_ replies: [Reply]) -> [Action] {
        guard !isReadOnly, let values = replies.suffix(2).first?.elements, let value = values.first,
            case .none? = replies.suffix(3).first, value.text?.count != Generation.length
        else { return [] }
        return [.send(RedisCommand("DEL", RedisNames.everything), expecting: .any)]
    }

    /// Whether another program has written a value of another type under the name.
    static func isUnusable(_ failure: String) -> Bool { failure.hasPrefix("WRONGTYPE") }

    /// Marks the log as unusable; with a purpose, reads a new log immediately.
    private mutating func markUnusable(
        _ reason: String, reading: PurgeLogReading?, purpose: Purpose? = nil
    ) -> [Action] {
        isUnusable = true
        // Other programs write faster than the log is read, so the server is retried later.
        guard reading?.isRenewed != true else { return [.fail(reason)] }
        return [.report(reason)] + (purpose.map { [readAll(for: $0)] } ?? [])
    }

    private mutating func read(
        _ page: [Reply], from start: [UInt8]?, after count: Int, reading: PurgeLogReading?, purpose: Purpose
    ) -> [Action] {
        let entries = page.compactMap { PurgeLogEntry($0, signature: signature) }
        if reading == nil, entries.first?.id != start {
            // This is not the log that was read, or it has dropped the position. Purges that an earlier process missed
            // may be lost.
            defer { position = nil }
            return [readAll(for: purpose)]
        }
        guard !entries.contains(where: \.isOversized), count < Self.maximumLogLength else {
            return markUnusable("the log has entries that no instance wrote", reading: reading, purpose: purpose)
        }
        var actions = [Action]()
        var reading = reading
        // The purge at the previous position was already performed.
        if reading == nil, let done = entries.first?.notice { _ = processed.add(done) }
        for entry in entries {
            let purges = entry.notice.map { process($0) } ?? []
            reading?.add(entry, isKnown: purges.isEmpty)
            actions += purges
        }
        if let last = entries.last?.id {
            let isNews = last != position
            position = last
            if page.count >= Self.pageLength, last != start {
                // If everything may have to be dropped first, the position is saved later.
                let note: [Action] = isNews && reading?.hasLostPosition != true ? [.savePosition(last)] : []
                return actions + note + [
                    readPage(from: last, after: count + page.count, reading: reading, for: purpose)
                ]
            }
            if let reading { actions += repairs(reading, isEmpty: false) }
            if isNews || reading?.hasLostPosition == true { actions.append(.savePosition(last)) }
        } else if let reading {
            actions += repairs(reading, isEmpty: start == nil)
        }
        isOfEarlierProcess = false
        switch purpose {
        case .join, .poll: return actions + deliver(for: purpose)
        case .catchUp(let promise): return actions + [.caughtUp(promise)]
        }
    }

    /// Writes known purges into a log that lacks them, because the previous log was lost.
    private func repairs(_ reading: PurgeLogReading, isEmpty: Bool) -> [Action] {
        let gap: [Action] = reading.isGap(signature) ? [.dropEverything] : []
        guard !isReadOnly else { return gap }
        let missing = processed.missing(in: reading.ids)
        guard isEmpty || !missing.isEmpty else { return gap }
        var command = RedisCommand()
        // An empty entry identifies the log later.
        if missing.isEmpty { command.add(Self.append([])) }
        for notice in missing { command.add(Self.append(notice.encoded(signature: signature))) }
        return gap + [.send(command, expecting: .repair)]
    }

    /// Deletes values a few keys at a time.
    static func sweep(from cursor: [UInt8]) -> Action {
        let pattern = RedisNames.values + "*".sentBytes
        return .send(RedisCommand("SCAN", cursor, "MATCH", pattern, "COUNT", sweptKeys), expecting: .sweep)
    }

    private func swept(_ replies: [Reply]?) -> [Action] {
        guard let parts = replies?.first?.elements, parts.count == 2, let next = parts[0].text,
            let keys = parts[1].elements
        else { return [] }
        let names = keys.compactMap(\.text).filter { $0.starts(with: RedisNames.values) }
        var unlinking = RedisCommand()
        unlinking.add("UNLINK", keys: names)
        return (names.isEmpty ? [] : [.send(unlinking, expecting: .any)])
            + (next == Self.sweepStart ? [] : [Self.sweep(from: next)])
    }
}
