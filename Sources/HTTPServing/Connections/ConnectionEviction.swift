import Coordination
import HTTPTypes

/// Makes room for a new connection when all places are taken: the idlest connection of the network with the most is
/// closed.
///
/// So silent connections of one client cost others nothing. A connection with a request under way is never closed.
/// Closings are planned many at a time, and seldom repeated if a plan finds none: a flood of connections costs its
/// client more than the server.
struct ConnectionEviction {
    /// A connection that may be closed for a new one.
    struct Candidate<Connection> {
        let connection: Connection
        /// The network of its client.
        let network: ClientNetwork
        /// Since when no request is under way; nil while one is.
        let idleSince: Duration?
    }

    /// Most closings that are planned at once, and most that are under way beyond the limit of connections.
    static let mostClosings = 64
    /// Time between two plans if the first found no connection to close.
    private static let pause = Duration.milliseconds(20)

    private var plan: [Candidate<any OpenConnection>] = []
    private var nextPlan = Duration.zero
    /// Closings that are under way.
    private(set) var closings = 0
    private var unreported = 0
    private var nextReport = Duration.zero

    /// Closes one connection; false when none may be closed.
    ///
    /// - Parameters:
    ///   - limit: Most places; if it is small, closings are planned one by one.
    ///   - candidates: All places; called only when the plan has run out.
    mutating func makeRoom(at now: Duration, limit: Int, candidates: () -> [Candidate<any OpenConnection>]) -> Bool {
        guard closings < Self.mostClosings else { return false }
        if closeNext(at: now) { return true }
        guard now >= nextPlan else { return false }
        plan = Self.order(candidates(), count: min(max(1, limit / Self.mostClosings), Self.mostClosings)).reversed()
        if closeNext(at: now) { return true }
        nextPlan = now + Self.pause
        return false
    }

    /// Notes that a connection has been closed.
    mutating func noteClosed() { closings -= 1 }

    /// How many connections were closed since the last report, at most once a minute; nil when there is nothing to
    /// report.
    mutating func report(at now: Duration) -> Int? {
        guard unreported > 0, now >= nextReport else { return nil }
        defer { unreported = 0 }
        nextReport = now + .seconds(60)
        return unreported
    }

    private mutating func closeNext(at now: Duration) -> Bool {
        while let candidate = plan.popLast() {
            if let idleSince = candidate.idleSince, candidate.connection.makeWay(idleSince: idleSince, at: now) {
                closings += 1
                unreported += 1
                return true
            }
        }
        return false
    }

    /// The connections to close, in order, at most `count` of them.
    static func order<Connection>(_ candidates: [Candidate<Connection>], count: Int) -> [Candidate<Connection>] {
        var groups: [ClientNetwork: (size: Int, idle: [Int])] = [:]
        for index in candidates.indices {
            var group = groups[candidates[index].network] ?? (0, [])
            group.size += 1
            if candidates[index].idleSince != nil { group.idle.append(index) }
            groups[candidates[index].network] = group
        }
        // Flat arrays, because they are read once for each closing.
        var queues = groups.values.filter { !$0.idle.isEmpty }.map { group in
            // The idlest last, because removing the last element is cheap.
            group.idle.sorted { candidates[$0].idleSince ?? .zero > candidates[$1].idleSince ?? .zero }
        }
        var sizes = queues.map { queue in queue.first.flatMap { groups[candidates[$0].network]?.size } ?? 0 }
        var idlest = queues.map { queue in queue.last.flatMap { candidates[$0].idleSince } }
        var order: [Candidate<Connection>] = []
        while order.count < count {
            var next: Int?
            for index in sizes.indices {
                guard let since = idlest[index] else { continue }
                guard let best = next, let bestSince = idlest[best] else {
                    next = index
                    continue
                }
                if sizes[index] > sizes[best] || (sizes[index] == sizes[best] && since < bestSince) { next = index }
            }
            guard let next, let closing = queues[next].popLast() else { break }
            sizes[next] -= 1
            idlest[next] = queues[next].last.flatMap { candidates[$0].idleSince }
            order.append(candidates[closing])
        }
        return order
    }
}

/// The network of a client: an IPv4 address, or the /64 network of an IPv6 address, because one client has all of it.
struct ClientNetwork: Hashable, Sendable {
    /// The address, or its first half.
    let bits: UInt64

    /// The network with these bits.
    init(bits: UInt64) { self.bits = bits }

    /// The network of a connection's other end.
    init(of peer: PeerAddress) {
        bits = peer.high == 0 && peer.low >> 32 == 0xffff ? peer.low & 0xffff_ffff : peer.high
    }
}
