/// Decides who gets memory next, from reservations, waiting tasks and the memory of each tenant; a plain value.
struct MemoryBudgetState<Answer> {
    typealias ID = UInt64
    typealias Holder = MemoryReservation.Holder

    enum Room {
        case enough, afterPurge, none
    }

    private struct Waiter {
        let id: ID
        let bytes: Int
        let answer: Answer
    }

    /// The tasks of one tenant that wait, or of all others.
    private struct Line {
        let flow: TenantFlow?
        var queues = [Deque<Waiter>](repeating: Deque(), count: MemoryBudget.Use.allCases.count)

        var next: (waiter: Waiter, use: MemoryBudget.Use)? {
            for use in MemoryBudget.Use.allCases {
                if let waiter = queues[use.rawValue].first { return (waiter, use) }
            }
            return nil
        }
    }

    /// The memory of one tenant.
    private struct Holdings {
        var work = 0
        var arrivals = 0
        /// Arrived and still in use; they count as living, not as reserved.
        var bodies = 0

        var sum: Int { work + arrivals + bodies }
    }

    let limit: Int
    private let maximumWaiting: Int
    private(set) var reserved = 0
    private var reservedForWork = 0
    private var bodies = 0
    private var holdings: [Int: Holdings] = [:]
    private var lines: [Int?: Line] = [:]
    var rejections = 0
    var purges: [MemoryBudget.Purge: Int] = [:]
    private var lastID: ID = 0

    init(limit: Int, maximumWaiting: Int) {
        self.limit = limit
        self.maximumWaiting = maximumWaiting
    }

    var waitingCount: Int { lines.values.reduce(0) { $0 + $1.queues.reduce(0) { $0 + $1.count } } }

    func ceiling(for use: MemoryBudget.Use) -> Int { use == .work ? limit : limit - limit / 4 }

    mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    /// Takes it if there is enough room, and no earlier waiter of the tenant.
    mutating func take(_ bytes: Int, for holder: Holder, living: Int) -> Room {
        let queues = lines[holder.flow?.id]?.queues ?? []
        guard queues.prefix(holder.use.rawValue + 1).allSatisfy(\.isEmpty) else {
            return holder.flow == nil ? .afterPurge : .none
        }
        let room = room(for: bytes, holder, living: living)
        if room == .enough { hold(bytes, holder) }
        return room
    }

    /// Returns false if the line is full.
    mutating func enter(_ id: ID, _ bytes: Int, for holder: Holder, answer: Answer) -> Bool {
        guard waitingCount < maximumWaiting else {
            rejections += 1
            return false
        }
        lines[holder.flow?.id, default: Line(flow: holder.flow)].queues[holder.use.rawValue]
            .append(Waiter(id: id, bytes: bytes, answer: answer))
        return true
    }

    mutating func leave(_ id: ID) -> Answer? {
        for (key, var line) in lines {
            for index in line.queues.indices {
                guard let waiter = line.queues[index].removeFirst(where: { $0.id == id }) else { continue }
                lines[key] = line.next == nil ? nil : line
                return waiter.answer
            }
        }
        return nil
    }

    /// Admits waiters while there is room; the tenant with the least memory for its share goes first.
    ///
    /// - Returns: `isShort` if a purge may make room for another.
    mutating func admit(living: Int) -> (answers: [Answer], isShort: Bool) {
        var answers: [Answer] = []
        while true {
            var isShort = false
            let count = answers.count
            for flow in lines.values.map(\.flow).sorted(by: precedes) {
                while let (waiter, use) = lines[flow?.id]?.next {
                    let holder = Holder(use: use, flow: flow)
                    let room = room(for: waiter.bytes, holder, living: living, hasWaited: true)
                    if room == .afterPurge { isShort = true }
                    guard room == .enough else { break }
                    hold(waiter.bytes, holder)
                    answers.append(waiter.answer)
                    _ = leave(waiter.id)
                }
            }
            if answers.count == count { return (answers, isShort) }
        }
    }

    mutating func hold(_ bytes: Int, _ holder: Holder) {
        reserved += bytes
        if holder.use == .work { reservedForWork += bytes }
        change(holder.flow) { if holder.use == .work { $0.work += bytes } else { $0.arrivals += bytes } }
    }

    mutating func release(_ bytes: Int, _ holder: Holder) { hold(-bytes, holder) }

    /// Counts the bytes of an arrived body, which are negative at its end.
    mutating func holdBody(_ bytes: Int, of flow: TenantFlow?) {
        bodies += bytes
        change(flow) { $0.bodies += bytes }
    }

    private mutating func change(_ flow: TenantFlow?, _ body: (inout Holdings) -> Void) {
        guard let flow else { return }
        var own = holdings[flow.id] ?? Holdings()
        body(&own)
        holdings[flow.id] = own.sum == 0 ? nil : own
    }

    private func room(for bytes: Int, _ holder: Holder, living: Int, hasWaited: Bool = false) -> Room {
        if fits(bytes, holder, living: living, hasWaited) { return .enough }
        // Only bodies in use are known to survive a purge.
        return holder.flow == nil || fits(bytes, holder, living: min(living, bodies), hasWaited) ? .afterPurge : .none
    }

    private func fits(_ bytes: Int, _ holder: Holder, living: Int, _ hasWaited: Bool) -> Bool {
        // Subtract, because the size of an extreme request saturates.
        let free = limit - living - reserved
        guard let flow = holder.flow else { return bytes <= free - limit + ceiling(for: holder.use) }
        let own = holdings[flow.id] ?? Holdings()
        guard holder.use == .arrival else {
            guard bytes <= free, own.work == 0 || !mustYield(flow) else { return false }
            // Sources may leave only a quarter for good: work that is too large for it must not wait for more.
            let isLarge = !flow.leavesRoom(taking: bytes, beside: 0, of: limit - ceiling(for: .arrival))
            if hasWaited, isLarge, own.work == 0, !mustYield(flow) { return true }
            let isAlone = holdings.keys.allSatisfy { $0 == flow.id }
            return isAlone || flow.leavesRoom(taking: bytes, beside: own.work, of: free)
        }
        // The work of other tenants does not keep out the sources of this one.
        let freeOfBodies = ceiling(for: .arrival) - living - (reserved - reservedForWork)
        return flow.leavesRoom(taking: bytes, beside: own.sum, of: min(free, freeOfBodies))
            && (bytes <= limit / 4 - own.sum || !mustYield(flow))
    }

    /// While another that holds less waits, a tenant has one piece of work at a time, and a quarter for sources.
    private func mustYield(_ flow: TenantFlow) -> Bool {
        lines.values.contains { $0.flow != nil && precedes($0.flow, flow) }
    }

    /// Whether the first has less memory for its share; tasks without a tenant go first.
    private func precedes(_ flow: TenantFlow?, _ other: TenantFlow?) -> Bool {
        guard let flow, let other else { return flow == nil && other != nil }
        return (holdings[flow.id]?.sum ?? 0) * other.share < (holdings[other.id]?.sum ?? 0) * flow.share
    }
}
