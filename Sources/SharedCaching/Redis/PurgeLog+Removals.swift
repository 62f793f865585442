import Coordination

/// Sends removals until the server confirms them.
extension PurgeLog {
    mutating func add(
        _ removal: PendingRemovals.Removal, fulfilling promise: Promise<RemovalState>?, isConnected: Bool
    ) -> [Action] {
        for notice in removal.notices { _ = processed.add(notice) }
        guard pending.add(removal, fulfilling: promise) else { return promise.map { [.fulfill($0, .rejected)] } ?? [] }
        return isConnected ? deliver() : promise.map { [.fulfill($0, .pending)] } ?? []
    }

    /// Returns the actions that send pending removals; those that the server rejects stay pending.
    mutating func deliver(for purpose: Purpose? = nil) -> [Action] {
        let entries = pending.takeUnsent()
        guard let last = entries.last else { return finish(purpose) }
        return entries.flatMap { entry in
            let purpose = entry.number == last.number ? purpose : nil
            guard case .tagged(let removal) = entry.removal else {
                return [Action.send(command(for: entry.removal), expecting: .removal(entry, purpose))]
            }
            if let tagged = entry.tagged { return purge(tagged, of: removal, entry: entry, purpose: purpose) }
            return [
                scanMembers(
                    of: removal, from: Self.sweepStart,
                    expecting: .members(removal, entry, tagged: TaggedSources(), purpose))
            ]
        }
    }

    private func scanMembers(
        of removal: TagRemoval, from cursor: [UInt8], expecting reply: ExpectedReply
    ) -> Action {
        let name = RedisTagSet(of: removal.tag, signature: signature).name
        return .send(RedisCommand("SSCAN", name, cursor, "COUNT", Self.pageLength), expecting: reply)
    }

    /// Reads a page of the tag's sources; after the last page, the sources are purged.
    ///
    /// - Parameter isUnreadable: Whether the page was too long, so that the connection has ended.
    mutating func collect(
        _ removal: TagRemoval, for entry: PendingRemovals.Entry, after tagged: TaggedSources, replies: [Reply]?,
        isUnreadable: Bool, purpose: Purpose?
    ) -> [Action] {
        var tagged = tagged
        let set = RedisTagSet(of: removal.tag, signature: signature)
        guard let parts = replies?.first?.elements, parts.count == 2, let next = parts[0].text,
            let page = parts[1].elements
        else {
            if isUnreadable {
                tagged.markIncomplete()
                pending.putBack(entry.number, after: tagged)
            } else if replies?.first?.failure.map(Self.isUnusable) == true {
                tagged.markIncomplete()
                return [.send(RedisCommand("DEL", set.name), expecting: .any)]
                    + purge(tagged, of: removal, entry: entry, purpose: purpose)
            } else {
                pending.putBack(entry.number)
            }
            return replies == nil ? [] : finish(purpose)
        }
        tagged.add(page.map(\.text), signedBy: set.signature)
        guard next == Self.sweepStart || !tagged.isComplete else {
            return [
                scanMembers(
                    of: removal, from: next, expecting: .members(removal, entry, tagged: tagged, purpose))
            ]
        }
        return purge(tagged, of: removal, entry: entry, purpose: purpose)
    }

    private mutating func purge(
        _ tagged: TaggedSources, of removal: TagRemoval, entry: PendingRemovals.Entry, purpose: Purpose?
    ) -> [Action] {
        var tagged = tagged
        let notices = tagged.notices(for: removal.tag)
        for notice in notices { _ = processed.add(notice) }
        return [.send(command(for: .purge(notices)), expecting: .removal(entry, tagged: tagged, purpose))]
    }

    mutating func delivered(
        _ entry: PendingRemovals.Entry, tagged: TaggedSources, replies: [Reply]?, purpose: Purpose?
    ) -> [Action] {
        guard let replies, Self.isDone(entry.removal, replies: replies) else {
            if case .tagged = entry.removal {
                pending.putBack(entry.number, after: tagged)
            } else {
                pending.putBack(entry.number)
            }
            return replies.map { checkWrites($0) + finish(purpose) } ?? []
        }
        var actions = [Action]()
        if case .tagged(let removal) = entry.removal { actions.append(.tagged(removal, tagged)) }
        if let promise = pending.confirm(entry.number)?.promise { actions.append(.fulfill(promise, .done)) }
        if case .everything = entry.removal { actions.append(Self.sweep(from: Self.sweepStart)) }
        return actions + finish(purpose)
    }

    private func finish(_ purpose: Purpose?) -> [Action] { if case .join = purpose { [.probe] } else { [] } }

    /// Checks replies to writes; if they reject entries of the log, it is recreated at the next poll.
    mutating func checkWrites(_ replies: [Reply]) -> [Action] {
        let failure = replies.lazy.compactMap(\.failure).first { Self.isUnusable($0) || $0.hasPrefix("ERR ") }
        guard let failure, !isUnusable else { return [] }
        isUnusable = true
        return [.report(failure)]
    }

    private static func isDone(_ removal: PendingRemovals.Removal, replies: [Reply]) -> Bool {
        // A full server rejects the last command, which creates the next generation of everything.
        let needed = if case .everything = removal, replies.count > 1 { replies.dropLast() } else { replies[...] }
        return needed.allSatisfy { $0.failure == nil }
    }

    var newGeneration: [any RedisWord] { ["SET", RedisNames.everything, Generation().text, "NX"] }

    private func command(for removal: PendingRemovals.Removal) -> RedisCommand {
        var command = RedisCommand()
        switch removal {
        case .forget(let sources): command.add("DEL", keys: sources.map(\.generationName))
        case .purge(let notices):
            for notice in notices { add(notice, deleting: notice.sources.map(\.generationName), to: &command) }
        // The sources under the tag are read first.
        case .tagged: break
        case .everything(let notice?): add(notice, deleting: [RedisNames.everything], to: &command)
        case .everything(nil): command.add("DEL", RedisNames.everything)
        }
        if case .everything = removal, !isReadOnly {
            // Create the generation now, so that the next fetches can be shared; if this is rejected, the next read of
            // the log tries again.
            command.add(newGeneration)
        }
        return command
    }

    /// The log comes first, so that an instance that finds the next generation also finds the purge.
    private func add(_ notice: PurgeNotice, deleting names: [[UInt8]], to command: inout RedisCommand) {
        command.add(Self.append(notice.encoded(signature: signature)))
        if !names.isEmpty { command.add("DEL", keys: names) }
        command.add("PUBLISH", RedisNames.channel, notice.encoded(signature: signature))
    }

    static func append(_ payload: [UInt8]) -> [any RedisWord] {
        [
            "XADD", RedisNames.log, "MAXLEN", "~",
            PurgeMemory.capacity, "*", "p", payload,
        ]
    }
}
