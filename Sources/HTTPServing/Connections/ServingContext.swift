import Coordination
import HTTPTypes
import Synchronization
import Telemetry

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
    private let countsByPeer = Locked<[PeerAddress: Int]>([:])

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

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func drain() { draining.store(true, ordering: .relaxed) }

    var connectionCount: Int { openCount.load(ordering: .relaxed) }

    var openConnections: [any OpenConnection] { connections.withLock { Array($0.values) } }

    /// Returns false if the address is at its limit, or all slots are taken and no connection can be closed.
    ///
    /// Called on the event thread.
    func admit(_ peer: PeerAddress?) -> Bool {
        guard takeSlot(for: peer) else { return false }
        let count = openCount.wrappingAdd(1, ordering: .relaxed).newValue
        let surplus = count - configuration.maximumConnections
        if surplus <= 0 || closeIdle(forSurplus: surplus) { return true }
        openCount.wrappingSubtract(1, ordering: .relaxed)
        releaseSlot(of: peer)
        return false
    }

    /// Takes a slot; trusted proxies have no limit per address.
    private func takeSlot(for peer: PeerAddress?) -> Bool {
        guard let limit = configuration.maximumConnectionsPerAddress, let peer, !configuration.isTrustedProxy(peer)
        else {
            return true
        }
        return countsByPeer.withLock { counts in
            let count = counts[peer, default: 0]
            if count >= limit { return false }
            counts[peer] = count + 1
            return true
        }
    }

    private func releaseSlot(of peer: PeerAddress?) {
        guard configuration.maximumConnectionsPerAddress != nil, let peer else { return }
        countsByPeer.withLock { counts in
            guard let count = counts[peer] else { return }
            counts[peer] = count > 1 ? count - 1 : nil
        }
    }

    /// Closes an idle connection unless enough are closing already; returns false if none may be closed.
    private func closeIdle(forSurplus surplus: Int) -> Bool {
        let now = timekeeper.now
        let (isFreed, report) = eviction.withLock { eviction in
            let isFreed =
                eviction.closings >= surplus
                || eviction.closeNext(at: now, limit: configuration.maximumConnections) {
                    openConnections.map { $0.candidate(at: now) }
                }
            return (isFreed, eviction.report(at: now))
        }
        if let report { logger.warning("idle connections closed for new ones", ["count": .int(report)]) }
        return isFreed
    }

    func add(_ connection: any OpenConnection) {
        connections.withLock { $0[ObjectIdentifier(connection)] = connection }
    }

    /// Keeps the socket of a closing connection open; event thread only, while the descriptor is open.
    func linger(_ descriptor: CInt) {
        // Wake the watch thread, which drains the sockets.
        if lingering.add(copyOf: descriptor, at: timekeeper.now) { watch.update { _ in } }
    }

    func remove(_ connection: any OpenConnection) {
        _ = connections.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }
        // Record this before the slot is freed, so that it is not taken twice.
        if connection.isEvicted { eviction.withLock { $0.recordClosed() } }
        openCount.wrappingSubtract(1, ordering: .relaxed)
        releaseSlot(of: connection.peer)
    }

    /// Whether the library may be stopped: no connections, and no thread that is about to wake its threads.
    var isIdle: Bool { connections.withLock { $0.isEmpty } && resuming.load(ordering: .acquiring) == 0 }

    func beginResuming() { resuming.wrappingAdd(1, ordering: .acquiringAndReleasing) }

    /// ``beginResuming()`` keeps the library running while a connection is resumed.
    func endResuming() { resuming.wrappingSubtract(1, ordering: .releasing) }
}
