package import Coordination
import Memory
package import Telemetry

/// A cache on a server that several instances share: it returns what was stored and not removed since, or nothing.
///
/// One thread does all that concerns the server, Redis or Valkey. A look-up waits for a bounded time, a write for
/// nothing: it is dropped if too much waits. If the server is slow, full, gone or lying, that costs look-ups and
/// nothing more. Values carry the generations of their sources, which a removal replaces by new random ones, so a value
/// that was begun before a removal is never found after it.
package final class SharedStore: Sendable {
    /// The shared cache cannot be used with these settings.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// The file of authorities cannot be read, or holds none.
        case authorities(path: String)
        /// The system refuses a thread or a pipe.
        case system(error: Int32)

        package var description: String {
            switch self {
            case .authorities(let path): "sharedCacheAuthorities: \"\(path)\" holds no certificate authorities"
            case .system(let error): "the system refuses a thread: error \(error)"
            }
        }
    }

    /// The result of a look-up.
    package struct LookUp: Sendable {
        /// The value; nil if there is none that may be used.
        package var value: SharedValue?
        /// How it ended; nil if the server was not asked.
        package var result: SharedStoreStatistics.Result?
        /// The generations now, one for each source; nil if they are not known.
        package var generations: [SharedGenerations]?
    }

    /// A reply of the server, which nothing is known of before ``checked(_:)``.
    package struct Reply: Sendable {
        fileprivate let answer: TierRead.Answer
        fileprivate let key: SharedKey
        fileprivate let sourceCount: Int

        /// Bytes of the value; 0 if there is none.
        package var byteCount: Int {
            if case .values(let values) = answer { values.last.flatMap { $0?.count } ?? 0 } else { 0 }
        }
    }

    /// How long a caller waits for the server to confirm a removal.
    private static let removalTimeLimit = Duration.seconds(1)
    /// How long a source is remembered of which nothing is written.
    private static let shortGenerationSeconds = 3_600
    /// The longest time for which a value is kept, and a day more: no value outlives its generation.
    private static let longestSeconds = 7 * 86_400
    private static let generationSeconds = 8 * 86_400

    private let configuration: SharedCacheConfiguration
    private let inbox: TierInbox
    private let tls: TierTLS?
    private let seal: SharedSeal
    private let logger: Logger
    private let timekeeper: any Timekeeper

    /// A store that does nothing before ``start(_:position:)``.
    package init(
        _ configuration: SharedCacheConfiguration, logger: Logger, timekeeper: any Timekeeper
    ) throws(Failure) {
        self.configuration = configuration
        self.logger = logger
        self.timekeeper = timekeeper
        seal = configuration.credentials.seal
        inbox = try TierInbox(configuration)
        guard configuration.address.isTLS else {
            tls = nil
            return
        }
        guard let tls = TierTLS(authorities: configuration.authorities) else {
            throw .authorities(path: configuration.authorities ?? "")
        }
        self.tls = tls
    }

    /// Starts the thread, which connects at once, and again whenever the connection is lost.
    ///
    /// - Parameters:
    ///   - audience: The reactions to purges of other instances.
    ///   - position: How far an earlier process had read the log, of which a disk holds what it had then; else nil.
    package func start(_ audience: PurgeAudience, position: [UInt8]? = nil) throws(Failure) {
        do throws(WorkThread.StartFailure) {
            try WorkThread(named: "shared-cache") { [configuration, inbox, tls, logger, timekeeper] in
                TierThread(
                    configuration, inbox: inbox, tls: tls, logger: logger, timekeeper: timekeeper, audience: audience,
                    position: position
                ).run()
            }.detach()
        } catch {
            throw .system(error: error.systemError)
        }
    }

    /// Ends the thread and all that waits for the server.
    package func stop() { inbox.stop() }

    /// State and counts at this moment.
    package var statistics: SharedStoreStatistics { inbox.statistics }

    /// Whether only reads and purges are sent.
    package var isReadOnly: Bool { configuration.isReadOnly }

    /// Whether the server is in use.
    package var isUp: Bool { inbox.isUp }

    /// Looks for a value.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - sources: The sources that it is made from.
    ///   - isBeginning: Whether sources get a generation if they have none, because they are about to be fetched.
    ///   - allowance: The time that the request has waited for the server before.
    package func value(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool = false, allowance: WaitAllowance
    ) async -> LookUp {
        let answer = FirstAnswer<Reply?>()
        let isAsked = ask(for: key, of: sources, isBeginning: isBeginning, allowance: allowance) { answer.give($0) }
        guard isAsked, let reply = await answer.value(orIfCancelled: nil) else { return LookUp() }
        return checked(reply)
    }

    /// Asks for a value without waiting for it.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - sources: The sources that it is made from.
    ///   - isBeginning: As for ``value(for:of:isBeginning:allowance:)``.
    ///   - limit: How long the reply may take, if that is less than the store's own limit.
    ///   - allowance: The time that the request has waited for the server before.
    ///   - finish: Called with the reply, once, on any thread; must not block.
    /// - Returns: Whether the server is asked; else `finish` is not called.
    package func ask(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool = false, within limit: Duration? = nil,
        allowance: WaitAllowance, _ finish: @escaping @Sendable (Reply) -> Void
    ) -> Bool {
        let limit = allowance.remaining(of: min(configuration.timeout, limit ?? configuration.timeout))
        guard limit > .zero, inbox.admitRead() else { return false }
        let begun = timekeeper.now
        let sourceCount = sources.count
        inbox.post(
            .read(
                TierRead(command: command(key, sources, isBeginning), deadline: begun + limit) {
                    [inbox, timekeeper] answer in
                    inbox.endRead()
                    allowance.spend(timekeeper.now - begun)
                    finish(Reply(answer: answer, key: key, sourceCount: sourceCount))
                }))
        return true
    }

    /// Judges a reply, which is counted: to be called once for each.
    ///
    /// Hashes all of the value, which takes about a millisecond for 1 MiB.
    package func checked(_ reply: Reply) -> LookUp {
        let lookUp = judged(reply)
        if let result = lookUp.result { inbox.count(result) }
        return lookUp
    }

    /// Writes a value, later, on the store's thread.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - key: Its key.
    ///   - sources: The sources that it is made from.
    ///   - generations: The generations that they had before it was begun, one for each.
    ///   - seconds: How long it may be found.
    /// - Returns: Whether it will be tried.
    @discardableResult
    package func store(
        _ value: SharedValue, for key: SharedKey, of sources: [SharedSource], under generations: [SharedGenerations],
        seconds: Int
    ) -> Bool {
        guard !configuration.isReadOnly, seconds > 0, generations.count == sources.count, let first = generations.first,
            generations.allSatisfy({ $0.everything == first.everything }),
            value.length(generations: generations.count + 1) <= configuration.maximumValueBytes
        else { return false }
        let length = value.length(generations: generations.count + 1)
        guard inbox.admitWrite(length) else { return false }
        let body = value.written(under: key, generations: [first.everything] + generations.map(\.source), seal)
        var command = TierCommand()
        let after = command.addSet(key.name, valueLength: length, seconds: min(seconds, Self.longestSeconds))
        var rest = TierCommand()
        for source in sources {
            rest.add(
                [UInt8](word: "EXPIRE"), source.generationName, [UInt8](word: String(Self.generationSeconds)))
        }
        inbox.post(
            .write(
                TierWrite(
                    command: command, body: body, after: after + rest.bytes,
                    replyCount: command.replyCount + rest.replyCount, length: length)))
        return true
    }

    /// Makes all that was written about a source unreadable; other instances keep what they have.
    package func forget(_ source: SharedSource) { inbox.post(.remove(.forget(source), answer: nil)) }

    /// Makes all that was written about a source unreadable, and tells all other instances.
    ///
    /// - Parameters:
    ///   - source: The source.
    ///   - name: The source as the operator named it.
    /// - Returns: Whether that is done, or will be when the server is there again; else too many purges wait for it.
    package func purge(_ source: SharedSource, name: String) async -> Bool {
        guard let notice = PurgeNotice(source, name: name) else { return false }
        return await removed(.purge(notice))
    }

    /// Makes everything unreadable, in this instance and in others, and has the server drop it by and by.
    ///
    /// - Returns: As by ``purge(_:name:)``.
    package func purgeEverything() async -> Bool { await removed(.everything) }

    /// Learns of all purges that were made before this call; returns whether that could be done.
    package func learnPurges() async -> Bool {
        let answer = FirstAnswer<Bool>()
        inbox.post(.readLog(answer))
        return await answer.value(within: Self.removalTimeLimit, by: timekeeper, or: false)
    }

    private func removed(_ removal: DueRemovals.Removal) async -> Bool {
        let answer = FirstAnswer<Bool>()
        inbox.post(.remove(removal, answer: answer))
        return await answer.value(within: Self.removalTimeLimit, by: timekeeper, or: true)
    }

    private func command(_ key: SharedKey, _ sources: [SharedSource], _ isBeginning: Bool) -> TierCommand {
        var command = TierCommand()
        if isBeginning, !configuration.isReadOnly {
            for source in sources {
                command.add(
                    [UInt8](word: "SET"), source.generationName, Generation().text, [UInt8](word: "NX"),
                    [UInt8](word: "EX"), [UInt8](word: String(Self.shortGenerationSeconds)))
            }
        }
        command.add([[UInt8](word: "MGET"), TierNames.everything] + sources.map(\.generationName) + [key.name])
        return command
    }

    private func judged(_ reply: Reply) -> LookUp {
        let values: [SharedBytes?]
        switch reply.answer {
        case .values(let found): values = found
        case .timeout: return LookUp(result: .timeout)
        case .failed: return LookUp(result: .error)
        }
        guard values.count == reply.sourceCount + 2 else { return LookUp(result: .rejected) }
        let generations = values.dropLast().map { bytes in
            bytes.flatMap { $0.count == Generation.length ? Generation($0.array) : nil }
        }
        let known = generations.compactMap(\.self)
        guard known.count == generations.count else {
            return LookUp(result: .miss)
        }
        let current = known.dropFirst().map { SharedGenerations(everything: known[0], source: $0) }
        guard let bytes = values.last.flatMap(\.self) else { return LookUp(result: .miss, generations: current) }
        switch SharedValue.read(bytes, under: reply.key, generations: known, seal) {
        case .value(let value): return LookUp(value: value, result: .hit, generations: current)
        case .outdated: return LookUp(result: .miss, generations: current)
        case .damaged: return LookUp(result: .rejected, generations: current)
        }
    }
}
