import Coordination

/// Makes room for a new connection where all places are taken: the idlest one of the network with the most goes.
///
/// So silent connections of one client cost others nothing. Who has a request under way stays, whoever it is. Places are looked through
/// for many closings at once, and seldom where that finds nothing: a flood of connections costs a flood's client more than us.
struct Crowd {
    /// One place that may be given to another.
    struct Seat<Occupant> {
        /// Who sits there.
        let occupant: Occupant
        /// Where it is connected from.
        let network: ClientNetwork
        /// Since when nothing is under way; nil while something is.
        let idleSince: Duration?
    }

    /// So many closings are planned at once, and so many may be under way beside the limit.
    static let mostClosings = 64
    /// Time between two looks of which the first found nobody to go.
    private static let pause = Duration.milliseconds(20)

    private var plan: [Seat<ClientConnection>] = []
    private var nextLook = Duration.zero
    /// Closings that are under way.
    private(set) var closings = 0
    private var untold = 0
    private var nextReport = Duration.zero

    /// Has one connection go; false when there is none that may.
    ///
    /// - Parameters:
    ///   - seats: All places; looked at only when the plan has run out.
    ///   - limit: How many there may be: a small number is planned for one by one.
    mutating func makeRoom(at now: Duration, limit: Int, seats: () -> [Seat<ClientConnection>]) -> Bool {
        guard closings < Self.mostClosings else { return false }
        if closeNext(at: now) { return true }
        guard now >= nextLook else { return false }
        plan = Self.order(seats(), count: min(max(1, limit / Self.mostClosings), Self.mostClosings)).reversed()
        if closeNext(at: now) { return true }
        nextLook = now + Self.pause
        return false
    }

    /// A connection that was told to go has gone.
    mutating func noteClosed() { closings -= 1 }

    /// How many were told to go since somebody was told so last, once a minute at most; nil when there is nothing to tell.
    mutating func report(at now: Duration) -> Int? {
        guard untold > 0, now >= nextReport else { return nil }
        defer { untold = 0 }
        nextReport = now + .seconds(60)
        return untold
    }

    private mutating func closeNext(at now: Duration) -> Bool {
        while let seat = plan.popLast() {
            if let idleSince = seat.idleSince, seat.occupant.makeWay(idleSince: idleSince, at: now) {
                closings += 1
                untold += 1
                return true
            }
        }
        return false
    }

    /// Who goes first, second and so on, at most `count` of them.
    static func order<Occupant>(_ seats: [Seat<Occupant>], count: Int) -> [Seat<Occupant>] {
        var groups: [ClientNetwork: (size: Int, idle: [Int])] = [:]
        for index in seats.indices {
            var group = groups[seats[index].network] ?? (0, [])
            group.size += 1
            if seats[index].idleSince != nil { group.idle.append(index) }
            groups[seats[index].network] = group
        }
        // Side by side and flat, for they are gone through once for each who goes.
        var queues = groups.values.filter { !$0.idle.isEmpty }.map { group in
            // The idlest last, where it is taken from at no cost.
            group.idle.sorted { seats[$0].idleSince ?? .zero > seats[$1].idleSince ?? .zero }
        }
        var sizes = queues.map { queue in queue.first.flatMap { groups[seats[$0].network]?.size } ?? 0 }
        var idlest = queues.map { queue in queue.last.flatMap { seats[$0].idleSince } }
        var order: [Seat<Occupant>] = []
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
            guard let next, let going = queues[next].popLast() else { break }
            sizes[next] -= 1
            idlest[next] = queues[next].last.flatMap { seats[$0].idleSince }
            order.append(seats[going])
        }
        return order
    }
}

/// Where a client is connected from: an IPv4 address, or the network of an IPv6 one, which has as many addresses as it likes.
struct ClientNetwork: Hashable, Sendable {
    /// The address, or its first half.
    let bits: UInt64
}
