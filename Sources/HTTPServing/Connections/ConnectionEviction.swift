import Coordination
import HTTPTypes

/// When all slots are taken, closes the longest-idle connection of the network with the most connections.
///
/// So idle connections of one client cannot crowd out other clients. A connection with a request in progress is never
/// closed. Closings are planned in batches, and after an empty plan there is a pause, so that a flood of connections
/// costs the client more than the server.
struct ConnectionEviction {
    struct Candidate<Connection> {
        let connection: Connection
        let network: ClientNetwork
        /// The time of the last activity; nil while a request is in progress.
        let idleSince: Duration?
    }

    /// The maximum number of connections being closed, in addition to `maximumConnections`.
    static let maximumClosings = 64
    /// The pause before the next plan if the last one was empty.
    private static let pause = Duration.milliseconds(20)

    private var plan: [Candidate<any OpenConnection>] = []
    private var nextPlan = Duration.zero
    private(set) var closings = 0
    private var unreported = 0
    private var nextReport = Duration.zero

    /// Closes a connection; returns false if none may be closed.
    ///
    /// - Parameters:
    ///   - limit: The number of slots; with few slots, one closing is planned at a time.
    ///   - candidates: Returns the open connections; called only when the plan is used up.
    mutating func closeNext(at now: Duration, limit: Int, candidates: () -> [Candidate<any OpenConnection>]) -> Bool {
        guard closings < Self.maximumClosings else { return false }
        if closePlanned(at: now) { return true }
        guard now >= nextPlan else { return false }
        plan = Self.order(candidates(), count: min(max(1, limit / Self.maximumClosings), Self.maximumClosings))
            .reversed()
        if closePlanned(at: now) { return true }
        nextPlan = now + Self.pause
        return false
    }

    mutating func recordClosed() { closings -= 1 }

    /// Returns the number closed since the last report, at most once a minute.
    mutating func report(at now: Duration) -> Int? {
        guard unreported > 0, now >= nextReport else { return nil }
        defer { unreported = 0 }
        nextReport = now + .seconds(60)
        return unreported
    }

    private mutating func closePlanned(at now: Duration) -> Bool {
        while let candidate = plan.popLast() {
            if let idleSince = candidate.idleSince, candidate.connection.closeForEviction(idleSince: idleSince, at: now)
            {
                closings += 1
                unreported += 1
                return true
            }
        }
        return false
    }

    static func order<Connection>(_ candidates: [Candidate<Connection>], count: Int) -> [Candidate<Connection>] {
        var groups: [ClientNetwork: (size: Int, idle: [Int])] = [:]
        for index in candidates.indices {
            var group = groups[candidates[index].network] ?? (0, [])
            group.size += 1
            if candidates[index].idleSince != nil { group.idle.append(index) }
            groups[candidates[index].network] = group
        }
        // Flat arrays, because they are read once per closing.
        var queues = groups.values.filter { !$0.idle.isEmpty }.map { group in
            // The longest-idle connection is last, because removing the last element is fast.
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
