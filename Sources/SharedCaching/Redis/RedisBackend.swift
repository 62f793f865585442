import Coordination
import Memory
import Telemetry

/// A store on a server; one thread does all communication with it.
final class RedisBackend: StoreBackend {
    /// The longest lifetime of a value plus a day, so that no value outlives its generation.
    private static let maximumSeconds = 7 * 86_400
    private static let generationSeconds = 8 * 86_400
    private static let logTimeLimit = Duration.seconds(1)

    private let configuration: SharedCacheConfiguration
    private let gate: StoreGate
    private let inbox: RedisInbox
    private let tls: RedisTLS?
    /// The lifetime until a request writes its value; it is short, because any URL creates a generation.
    private let newGenerationSeconds: Int
    let isServer = true

    init(_ configuration: SharedCacheConfiguration, gate: StoreGate) throws(SharedStoreFailure) {
        self.configuration = configuration
        self.gate = gate
        inbox = try RedisInbox()
        let longest = Int((configuration.requestTimeout * 2).components.seconds)
        newGenerationSeconds = min(max(120, longest), Self.generationSeconds)
        guard configuration.address.isTLS else {
            tls = nil
            return
        }
        guard let tls = RedisTLS(authorities: configuration.authorities) else {
            throw .authorities(path: configuration.authorities ?? "")
        }
        self.tls = tls
    }

    func start(_ handlers: PurgeHandlers, position: [UInt8]?) throws(SharedStoreFailure) {
        do throws(WorkThread.StartFailure) {
            try WorkThread(named: "shared-cache") { [configuration, inbox, tls, gate] in
                RedisThread(configuration, inbox: inbox, gate: gate, tls: tls, handlers: handlers, position: position)
                    .run()
            }.detach()
        } catch {
            throw .system(error: error.systemError)
        }
    }

    func shutDown(timeLimit: Duration) async {
        // The remaining time is for logging lost removals.
        inbox.shutDown(by: gate.timekeeper.now + timeLimit * 3 / 4)
        _ = await inbox.ended.value(within: timeLimit, by: gate.timekeeper, or: false)
    }

    /// Returns true, because the server performs commands in order.
    func mayRead(_ sources: [SharedSource]) -> Bool { true }

    func read(
        _ key: SharedKey, of sources: [SharedSource], createsGenerations: Bool, within limit: Duration,
        completion: @escaping @Sendable (StoreReadResult) -> Void
    ) {
        var command = RedisCommand()
        if createsGenerations {
            for source in sources {
                command.add("SET", source.generationName, Generation().bytes, "NX", "EX", newGenerationSeconds)
            }
        }
        command.add("MGET", RedisNames.everything, keys: sources.map(\.generationName) + [key.name])
        inbox.post(.read(RedisRead(command: command, deadline: gate.timekeeper.now + limit, completion: completion)))
    }

    func write(_ bytes: SharedBytes, for key: SharedKey, of sources: [SharedSource], seconds: Int) {
        var command = RedisCommand()
        let after = command.addSet(key.name, valueLength: bytes.count, seconds: min(seconds, Self.maximumSeconds))
        var expiry = RedisCommand()
        for source in sources { expiry.add("EXPIRE", source.generationName, Self.generationSeconds) }
        inbox.post(
            .write(
                RedisWrite(
                    command: command, body: bytes, after: after + expiry.bytes,
                    replyCount: command.replyCount + expiry.replyCount, length: bytes.count)))
    }

    /// Returns nil: the tag itself is sent to all instances, so requests that wait for its sources learn of the purge.
    func checkpoint(of tag: SharedTag, for source: NamedSource) -> TagCheckpoint? { nil }

    func record(_ tag: SharedTag, of source: NamedSource, since checkpoint: TagCheckpoint?) {
        guard gate.admitWrite(of: source.queuedLength, in: .tags) else { return }
        // The set outlives all values written since its last member was added.
        let set = RedisTagSet(of: tag, signer: configuration.credentials.signer)
        var command = RedisCommand()
        command.add("SADD", set.name, source.encoded + set.signer.textSignature(of: source.encoded))
        command.add("EXPIRE", set.name, Self.generationSeconds)
        inbox.post(
            .write(
                RedisWrite(
                    command: command, replyCount: command.replyCount, length: source.queuedLength, queue: .tags)))
    }

    func remove(_ removal: PendingRemovals.Removal, fulfilling promise: Promise<RemovalState>?) {
        inbox.post(.remove(removal, fulfilling: promise))
    }

    func catchUpWithPurges() async -> Bool {
        let promise = Promise<Bool>()
        inbox.post(.readLog(fulfilling: promise))
        return await promise.value(within: Self.logTimeLimit, by: gate.timekeeper, or: false)
    }
}
