import Coordination
import HTTPTypes
import Synchronization
import Telemetry

/// The state that the connections of one server share.
final class ServingContext: Sendable {
    let configuration: HTTPServerConfiguration
    let responder: any RequestResponder
    let logger: Logger
    let watch: ConnectionWatch
    let timekeeper: any Timekeeper
    let lingering = LingeringSockets()

    private let draining = Atomic<Bool>(false)
    private let openCount = Atomic<Int>(0)
    private let resuming = Atomic<Int>(0)
    private let eviction = Locked(ConnectionEviction())
    private let connections = Locked<[ObjectIdentifier: any OpenConnection]>([:])
    /// How many connections each address has; empty if there is no limit.
    private let countsByPeer = Locked<[PeerAddress: Int]>([:])

    /// The context of a server that has no connections yet.
    init(
        configuration: HTTPServerConfiguration, responder: any RequestResponder, logger: Logger, watch: ConnectionWatch,
        timekeeper: any Timekeeper
    ) {
        self.configuration = configuration
        self.responder = responder
        self.logger = logger
        self.watch = watch
        self.timekeeper = timekeeper
    }

    /// Whether connections are to close with their next answer.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// From now on each answer is its connection's last.
    func drain() {
        draining.store(true, ordering: .relaxed)
    }

    var connectionCount: Int { openCount.load(ordering: .relaxed) }

    /// The connections open at this moment.
    var openConnections: [any OpenConnection] { connections.withLock { Array($0.values) } }

    /// Takes a place for a new connection on its event thread; false when all are taken, and no connection may be
    /// closed for it, and when its address has as many as it may.
    func admit(_ peer: PeerAddress) -> Bool {
        guard takePlace(for: peer) else { return false }
        let count = openCount.wrappingAdd(1, ordering: .relaxed).newValue
        let surplus = count - configuration.maximumConnections
        if surplus <= 0 || makeRoom(for: surplus) { return true }
        openCount.wrappingSubtract(1, ordering: .relaxed)
        giveBackPlace(of: peer)
        return false
    }

    /// Takes one of the places of an address; the addresses of trusted proxies have as many as they want.
    private func takePlace(for peer: PeerAddress) -> Bool {
        guard let limit = configuration.maximumConnectionsPerAddress, !configuration.isTrustedProxy(peer) else {
            return true
        }
        return countsByPeer.withLock { counts in
            let count = counts[peer, default: 0]
            if count >= limit { return false }
            counts[peer] = count + 1
            return true
        }
    }

    private func giveBackPlace(of peer: PeerAddress) {
        guard configuration.maximumConnectionsPerAddress != nil else { return }
        countsByPeer.withLock { counts in
            guard let count = counts[peer] else { return }
            counts[peer] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether enough connections are being closed for the excess.
    private func makeRoom(for surplus: Int) -> Bool {
        let now = timekeeper.now
        let (isMade, report) = eviction.withLock { eviction in
            let isMade =
                eviction.closings >= surplus
                || eviction.makeRoom(at: now, limit: configuration.maximumConnections) {
                    openConnections.map { $0.candidate(at: now) }
                }
            return (isMade, eviction.report(at: now))
        }
        if let report { logger.warning("idle connections closed for new ones", ["count": .int(report)]) }
        return isMade
    }

    /// Notes a connection that was admitted.
    func add(_ connection: any OpenConnection) {
        connections.withLock { $0[ObjectIdentifier(connection)] = connection }
    }

    /// Lets a refused client read its refusal, although its connection is closing; event thread, the descriptor is
    /// open.
    func linger(_ descriptor: CInt) {
        // The order wakes the watch thread, which drains.
        if lingering.keep(copyOf: descriptor, at: timekeeper.now) { watch.order { _ in } }
    }

    /// Gives back the place of a connection that is closing.
    func remove(_ connection: any OpenConnection) {
        _ = connections.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }
        // Before the place is given back, so that it is not given away twice.
        if connection.hasMadeWay { eviction.withLock { $0.noteClosed() } }
        openCount.wrappingSubtract(1, ordering: .relaxed)
        giveBackPlace(of: connection.peer)
    }

    /// Whether the library may be stopped: it has no connection left, and no thread is about to wake one of its
    /// threads.
    var isQuiet: Bool {
        connections.withLock { $0.isEmpty } && resuming.load(ordering: .acquiring) == 0
    }

    /// Keeps the library running while a connection is being resumed.
    func beginResuming() {
        resuming.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// The library is no longer needed by this resumption.
    func endResuming() {
        resuming.wrappingSubtract(1, ordering: .releasing)
    }
}
