/// Decides who gets memory next, from reservations, waiting tasks and the memory of each tenant; a plain value.
struct MemoryBudgetState<Answer> {
    typealias ID = UInt64
    typealias Holder = MemoryReservation.Holder

    enum Availability {
        case available, afterPurge, unavailable
    }

    private struct Waiter {
        let id: ID
        let bytes: Int
        let answer: Answer
    }

    /// The waiting tasks of one tenant, or all tasks without a tenant.
    private struct WaitingTasks {
        let flow: TenantFlow?
        var queues = [Deque<Waiter>](repeating: Deque(), count: MemoryBudget.Use.allCases.count)

        var next: (waiter: Waiter, use: MemoryBudget.Use)? {
            for use in MemoryBudget.Use.allCases {
                if let waiter = queues[use.rawValue].first { return (waiter, use) }
            }
            return nil
        }
    }
    private struct Usage {
        var work = 0
        var arrivals = 0
        /// Bodies that have arrived and are still in use; they count as existing, not as reserved.
        var bodies = 0

        var sum: Int { work + arrivals + bodies }
    }

    let limit: Int
    private let maximumWaiting: Int
    private(set) var reserved = 0
    private var reservedForWork = 0
    private var bodies = 0
    private var usage: [Int: Usage] = [:]
    private var waiting: [Int?: WaitingTasks] = [:]
    var rejections = 0
    var purges: [MemoryBudget.Purge: Int] = [:]
    private var lastID: ID = 0

    init(limit: Int, maximumWaiting: Int) {
        self.limit = limit
        self.maximumWaiting = maximumWaiting
    }

    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.queues.reduce(0) { $0 + $1.count } } }

    func ceiling(for use: MemoryBudget.Use) -> Int { use == .work ? limit : limit - limit / 4 }

    mutating func newID() -> ID {
        lastID += 1
        return lastID
    }

    /// Reserves memory if there is enough, and no earlier task of the tenant waits.
    mutating func take(_ bytes: Int, for holder: Holder, living: Int) -> Availability {
        let queues = waiting[holder.flow?.id]?.queues ?? []
        guard queues.prefix(holder.use.rawValue + 1).allSatisfy(\.isEmpty) else {
            return holder.flow == nil ? .afterPurge : .unavailable
        }
        let availability = availability(of: bytes, for: holder, living: living)
        if availability == .available { addReservation(bytes, for: holder) }
        return availability
    }

    /// Adds a waiting task; returns false if too many tasks wait.
    mutating func enter(_ id: ID, _ bytes: Int, for holder: Holder, answer: Answer) -> Bool {
        guard waitingCount < maximumWaiting else {
            rejections += 1
            return false
        }
        waiting[holder.flow?.id, default: WaitingTasks(flow: holder.flow)].queues[holder.use.rawValue]
            .append(Waiter(id: id, bytes: bytes, answer: answer))
        return true
    }

    mutating func leave(_ id: ID) -> Answer? {
        for (key, var tasks) in waiting {
            for index in tasks.queues.indices {
                guard let waiter = tasks.queues[index].removeFirst(where: { $0.id == id }) else { continue }
                waiting[key] = tasks.next == nil ? nil : tasks
                return waiter.answer
            }
        }
        return nil
    }

    /// Admits waiters while memory suffices; the tenant with the least memory relative to its share comes first.
    ///
    /// - Returns: The waiters, and `isShort` if a purge may free enough memory for another one.
    mutating func admit(living: Int) -> (answers: [Answer], isShort: Bool) {
        var answers: [Answer] = []
        while true {
            var isShort = false
            let count = answers.count
            for flow in waiting.values.map(\.flow).sorted(by: precedes) {
                while let (waiter, use) = waiting[flow?.id]?.next {
                    let holder = Holder(use: use, flow: flow)
                    let availability = availability(of: waiter.bytes, for: holder, living: living, hasWaited: true)
                    if availability == .afterPurge { isShort = true }
                    guard availability == .available else { break }
                    addReservation(waiter.bytes, for: holder)
                    answers.append(waiter.answer)
                    _ = leave(waiter.id)
                }
            }
            if answers.count == count { return (answers, isShort) }
        }
    }

    /// Adds to the reserved bytes; a negative number releases them.
    mutating func addReservation(_ bytes: Int, for holder: Holder) {
        reserved += bytes
        if holder.use == .work { reservedForWork += bytes }
        updateUsage(of: holder.flow) { if holder.use == .work { $0.work += bytes } else { $0.arrivals += bytes } }
    }

    /// Adds the bytes of an arrived body; a negative number removes them when the body is released.
    mutating func addBody(_ bytes: Int, of flow: TenantFlow?) {
        bodies += bytes
        updateUsage(of: flow) { $0.bodies += bytes }
    }

    private mutating func updateUsage(of flow: TenantFlow?, _ body: (inout Usage) -> Void) {
        guard let flow else { return }
        var own = usage[flow.id] ?? Usage()
        body(&own)
        usage[flow.id] = own.sum == 0 ? nil : own
    }

    private func availability(of bytes: Int, for holder: Holder, living: Int, hasWaited: Bool = false) -> Availability {
        if fits(bytes, for: holder, living: living, hasWaited: hasWaited) { return .available }
        guard holder.flow != nil else { return .afterPurge }
        // A purge cannot free bodies in use.
        return fits(bytes, for: holder, living: min(living, bodies), hasWaited: hasWaited) ? .afterPurge : .unavailable
    }

    private func fits(_ bytes: Int, for holder: Holder, living: Int, hasWaited: Bool) -> Bool {
        // Subtract, because the size of an extreme request saturates.
        let free = limit - living - reserved
        guard let flow = holder.flow else { return bytes <= free - limit + ceiling(for: holder.use) }
        let own = usage[flow.id] ?? Usage()
        if holder.use == .work {
            let isFirst = own.work == 0, isNext = !mustYield(flow)
            guard bytes <= free, isFirst || isNext else { return false }
            let isAlone = usage.keys.allSatisfy { $0 == flow.id }
            let isDue = hasWaited && isFirst && isNext && isLarge(bytes, for: flow)
            return isAlone || isDue || flow.mayTake(bytes, used: own.work, free: free)
        }
        // Other tenants' work does not block this tenant's sources.
        let freeOfBodies = ceiling(for: .arrival) - living - (reserved - reservedForWork)
        return flow.mayTake(bytes, used: own.sum, free: min(free, freeOfBodies))
            && (bytes <= limit / 4 - own.sum || !mustYield(flow))
    }

    /// Whether the work may exceed the quarter reserved for work, so that its share would never suffice.
    private func isLarge(_ bytes: Int, for flow: TenantFlow) -> Bool {
        !flow.mayTake(bytes, used: 0, free: limit - ceiling(for: .arrival))
    }

    /// Whether a tenant with less memory waits; this one then gets only one piece of work, and a quarter for sources.
    private func mustYield(_ flow: TenantFlow) -> Bool {
        waiting.values.contains { $0.flow != nil && precedes($0.flow, flow) }
    }

    /// Whether a tenant has less memory relative to its share; tasks without a tenant go first.
    private func precedes(_ flow: TenantFlow?, _ other: TenantFlow?) -> Bool {
        guard let flow, let other else { return flow == nil && other != nil }
        return (usage[flow.id]?.sum ?? 0) * other.share < (usage[other.id]?.sum ?? 0) * flow.share
    }
}
