package import Coordination
package import Memory
package import Telemetry

/// A cache on a server shared by several instances: returns values that were stored and not removed since, or nothing.
///
/// One thread does all communication with the server, Redis or Valkey. A lookup waits for a bounded time; a write never
/// waits, and is dropped if too many are queued. A server that is slow, full, unreachable or malicious costs lookups
/// and nothing more. Values include the generations of their sources, which a removal replaces by new random ones, so a
/// value that was begun before a removal is never found after it.
package final class SharedStore: SharedValueStore {
    /// The shared cache cannot be used with these settings.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// The file of authorities is unreadable or empty.
        case authorities(path: String)
        /// The system cannot create a thread or a pipe.
        case system(error: Int32)

        package var description: String {
            switch self {
            case .authorities(let path): "sharedCacheAuthorities: \"\(path)\" holds no certificate authorities"
            case .system(let error): "the system refuses a thread: error \(error)"
            }
        }
    }

    /// The time that a caller waits for the server to confirm a removal.
    private static let removalTimeLimit = Duration.seconds(1)
    /// The time for a removal by tag, for which many sources may have to be read.
    package static let tagTimeLimit = Duration.seconds(5)
    /// The time for which a source is remembered without any write.
    private static let shortGenerationSeconds = 3_600
    /// The longest lifetime of a value plus a day: no value outlives its generation.
    private static let longestSeconds = 7 * 86_400
    private static let generationSeconds = 8 * 86_400

    private let configuration: SharedCacheConfiguration
    private let inbox: TierInbox
    private let tls: TierTLS?
    private let seal: SharedSeal
    private let logger: Logger
    private let timekeeper: any Timekeeper

    /// Creates a store that does nothing before ``start(_:position:)``.
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
    ///   - audience: Handles purges of other instances.
    ///   - position: The log position of an earlier process whose entries are still on a disk; otherwise nil.
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

    package func stop(timeLimit: Duration) async {
        // The rest is for logging the removals that are lost.
        inbox.stop(by: timekeeper.now + timeLimit * 3 / 4)
        _ = await inbox.ended.value(within: timeLimit, by: timekeeper, or: false)
    }

    package var statistics: SharedStoreStatistics { inbox.statistics }

    package var isReadOnly: Bool { configuration.isReadOnly }

    package var isUp: Bool { inbox.isUp }

    package func ask(
        for key: SharedKey, of sources: [SharedSource], isBeginning: Bool = false, allowance: WaitBudget,
        _ finish: @escaping @Sendable (SharedReply) -> Void
    ) -> Bool {
        let limit = allowance.remaining(of: configuration.timeout)
        guard limit > .zero, inbox.admitRead() else { return false }
        let begun = timekeeper.now
        let sourceCount = sources.count
        inbox.post(
            .read(
                TierRead(command: command(key, sources, isBeginning), deadline: begun + limit) {
                    [inbox, timekeeper] answer in
                    inbox.endRead()
                    allowance.spend(timekeeper.now - begun)
                    finish(SharedReply(answer: answer, key: key, sourceCount: sourceCount))
                }))
        return true
    }

    package func checked(_ reply: SharedReply) -> SharedLookUp {
        let lookUp = reply.judged(by: seal)
        if let result = lookUp.result { inbox.count(result) }
        return lookUp
    }

    @discardableResult
    package func store(
        _ value: CacheValue, for key: SharedKey, of sources: [SharedSource], under generations: [SharedGenerations],
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
            rest.add("EXPIRE", source.generationName, Self.generationSeconds)
        }
        inbox.post(
            .write(
                TierWrite(
                    command: command, body: body, after: after + rest.bytes,
                    replyCount: command.replyCount + rest.replyCount, length: length)))
        return true
    }

    /// Returns nil: the tag itself is sent to all instances, so requests waiting for one of its sources learn of the
    /// purge.
    package func begin(_ tag: SharedTag, of source: NamedSource) -> TagBeginning? { nil }

    package func note(_ tag: SharedTag, of source: NamedSource, since beginning: TagBeginning?) {
        guard !configuration.isReadOnly, inbox.admitNote(source.queuedLength) else { return }
        // A set outlives all values written since its last member was added.
        let set = TierSet(of: tag, seal)
        var command = TierCommand()
        command.add("SADD", set.name, source.written + set.seal.text(of: source.written))
        command.add("EXPIRE", set.name, Self.generationSeconds)
        inbox.post(
            .write(
                TierWrite(
                    command: command, body: SharedBytes([UInt8]()), after: [], replyCount: command.replyCount,
                    length: source.queuedLength, isNote: true)))
    }

    package func forget(_ sources: [SharedSource]) { inbox.post(.remove(.forget(sources), answer: nil)) }

    package func purge(_ sources: [NamedSource]) async -> RemovalState {
        await removed(.purge(PurgeNotice.notices(of: sources)))
    }

    package func purge(_ removal: TagRemoval) async -> RemovalState {
        await removed(.tagged(removal), within: Self.tagTimeLimit)
    }

    package func purgeEverything() async -> RemovalState { await removed(.everything) }

    package func learnPurges() async -> Bool {
        let answer = OneTimeResult<Bool>()
        inbox.post(.readLog(answer))
        return await answer.value(within: Self.removalTimeLimit, by: timekeeper, or: false)
    }

    private func removed(
        _ removal: DueRemovals.Removal, within limit: Duration = removalTimeLimit
    ) async -> RemovalState {
        let answer = OneTimeResult<RemovalState>()
        inbox.post(.remove(removal, answer: answer))
        return await answer.value(within: limit, by: timekeeper, or: .due)
    }

    private func command(_ key: SharedKey, _ sources: [SharedSource], _ isBeginning: Bool) -> TierCommand {
        var command = TierCommand()
        if isBeginning, !configuration.isReadOnly {
            for source in sources {
                command.add("SET", source.generationName, Generation().text, "NX", "EX", Self.shortGenerationSeconds)
            }
        }
        command.add("MGET", TierNames.everything, keys: sources.map(\.generationName) + [key.name])
        return command
    }
}
