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

    /// Returns the actions that send pending removals; rejected ones stay pending.
    mutating func deliver(for purpose: Purpose? = nil) -> [Action] {
        let entries = pending.takeUnsent()
        guard let last = entries.last else { return finish(purpose) }
        return entries.flatMap { entry in
            var delivery = Delivery(entry: entry, purpose: entry.number == last.number ? purpose : nil)
            guard case .tagged(let removal) = entry.removal else {
                return [Action.send(command(for: entry.removal), expecting: .removal(delivery))]
            }
            guard let tagged = entry.tagged else {
                return [scanMembers(of: removal, from: ScanPage.start, for: delivery)]
            }
            delivery.tagged = tagged
            return purgeTagged(removal, for: delivery)
        }
    }

    private func scanMembers(of removal: TagRemoval, from cursor: [UInt8], for delivery: Delivery) -> Action {
        let name = RedisTagSet(of: removal.tag, signer: signer).name
        let command = RedisCommand("SSCAN", name, cursor, "COUNT", Self.pageLength)
        return .send(command, expecting: .members(removal, delivery))
    }

    /// Reads a page of the tag's sources; after the last page, the sources are purged.
    ///
    /// - Parameter isUnreadable: Whether the page was too long, so that the connection has ended.
    mutating func collect(
        _ removal: TagRemoval, for delivery: Delivery, replies: [Reply]?, isUnreadable: Bool
    ) -> [Action] {
        var delivery = delivery
        let set = RedisTagSet(of: removal.tag, signer: signer)
        guard let page = ScanPage(replies?.first) else {
            if isUnreadable {
                delivery.tagged.markIncomplete()
                pending.putBack(delivery.entry.number, after: delivery.tagged)
            } else if replies?.first?.failure.map(Self.isUnusable) == true {
                delivery.tagged.markIncomplete()
                return [.send(RedisCommand("DEL", set.name), expecting: .any)] + purgeTagged(removal, for: delivery)
            } else {
                pending.putBack(delivery.entry.number)
            }
            return replies == nil ? [] : finish(delivery.purpose)
        }
        delivery.tagged.add(page.elements.map(\.shortBytes), signedBy: set.signer)
        guard page.isLast || !delivery.tagged.isComplete else {
            return [scanMembers(of: removal, from: page.next, for: delivery)]
        }
        return purgeTagged(removal, for: delivery)
    }

    private mutating func purgeTagged(_ removal: TagRemoval, for delivery: Delivery) -> [Action] {
        var delivery = delivery
        let notices = delivery.tagged.notices(for: removal.tag)
        for notice in notices { _ = processed.add(notice) }
        return [.send(command(for: .purge(notices)), expecting: .removal(delivery))]
    }

    mutating func finish(_ delivery: Delivery, with replies: [Reply]?) -> [Action] {
        let entry = delivery.entry
        guard let replies, Self.isDone(entry.removal, replies: replies) else {
            if case .tagged = entry.removal {
                pending.putBack(entry.number, after: delivery.tagged)
            } else {
                pending.putBack(entry.number)
            }
            return replies.map { checkWrites($0) + finish(delivery.purpose) } ?? []
        }
        var actions = [Action]()
        if case .tagged(let removal) = entry.removal { actions.append(.tagged(removal, delivery.tagged)) }
        if let promise = pending.confirm(entry.number)?.promise { actions.append(.fulfill(promise, .done)) }
        if case .everything = entry.removal { actions.append(Self.sweep(from: ScanPage.start)) }
        return actions + finish(delivery.purpose)
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

    var newGeneration: [any RedisWord] { ["SET", RedisNames.everything, Generation().bytes, "NX"] }

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
        command.add(Self.append(notice.encoded(signer: signer)))
        if !names.isEmpty { command.add("DEL", keys: names) }
        command.add("PUBLISH", RedisNames.channel, notice.encoded(signer: signer))
    }

    static func append(_ payload: [UInt8]) -> [any RedisWord] {
        ["XADD", RedisNames.log, "MAXLEN", "~", PurgeMemory.capacity, "*", "p", payload]
    }
}
