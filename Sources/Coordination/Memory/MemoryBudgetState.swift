/// Decides who gets memory next, from reservations, waiting tasks and the memory of each tenant; a plain value.
struct MemoryBudgetState<Continuation> {
    typealias ID = UInt64
    typealias Owner = MemoryReservation.Owner

    enum Availability {
        case available, afterEviction, unavailable
    }

    private struct Waiter {
        let id: ID
        let bytes: Int
        let continuation: Continuation
    }

    /// The waiting tasks of one tenant, or all tasks without a tenant.
    private struct WaitingTasks {
        let flow: Flow?
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
    private var usage: [Flow.ID: Usage] = [:]
    private var waiting: [Flow.ID?: WaitingTasks] = [:]
    var rejections = 0
    var evictions: [MemoryBudget.Eviction: Int] = [:]
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
    mutating func take(_ bytes: Int, for owner: Owner, allocated: Int) -> Availability {
        let queues = waiting[owner.flow?.id]?.queues ?? []
        guard queues.prefix(owner.use.rawValue + 1).allSatisfy(\.isEmpty) else {
            return owner.flow == nil ? .afterEviction : .unavailable
        }
        let availability = availability(of: bytes, for: owner, allocated: allocated)
        if availability == .available { addReservation(bytes, for: owner) }
        return availability
    }

    /// Adds a waiting task; returns false if too many tasks wait.
    mutating func enter(_ id: ID, bytes: Int, for owner: Owner, continuation: Continuation) -> Bool {
        guard waitingCount < maximumWaiting else {
            rejections += 1
            return false
        }
        waiting[owner.flow?.id, default: WaitingTasks(flow: owner.flow)].queues[owner.use.rawValue]
            .append(Waiter(id: id, bytes: bytes, continuation: continuation))
        return true
    }

    mutating func leave(_ id: ID) -> Continuation? {
        for (key, var tasks) in waiting {
            for index in tasks.queues.indices {
                guard let waiter = tasks.queues[index].removeFirst(where: { $0.id == id }) else { continue }
                waiting[key] = tasks.next == nil ? nil : tasks
                return waiter.continuation
            }
        }
        return nil
    }

    /// Admits waiters while memory suffices; the tenant with the least memory relative to its weight comes first.
    ///
    /// - Returns: The waiters, and `isShort` if an eviction may free enough memory for another one.
    mutating func admit(allocated: Int) -> (continuations: [Continuation], isShort: Bool) {
        var continuations: [Continuation] = []
        while true {
            var isShort = false
            let count = continuations.count
            for flow in waiting.values.map(\.flow).sorted(by: precedes) {
                while let (waiter, use) = waiting[flow?.id]?.next {
                    let owner = Owner(use: use, flow: flow)
                    let availability = availability(of: waiter.bytes, for: owner, allocated: allocated, hasWaited: true)
                    if availability == .afterEviction { isShort = true }
                    guard availability == .available else { break }
                    addReservation(waiter.bytes, for: owner)
                    continuations.append(waiter.continuation)
                    _ = leave(waiter.id)
                }
            }
            if continuations.count == count { return (continuations, isShort) }
        }
    }

    /// Adds to the reserved bytes; a negative number releases them.
    mutating func addReservation(_ bytes: Int, for owner: Owner) {
        reserved += bytes
        if owner.use == .work { reservedForWork += bytes }
        updateUsage(of: owner.flow) { if owner.use == .work { $0.work += bytes } else { $0.arrivals += bytes } }
    }

    /// Adds the bytes of an arrived body; a negative number removes them when the body is released.
    mutating func addBody(_ bytes: Int, of flow: Flow?) {
        bodies += bytes
        updateUsage(of: flow) { $0.bodies += bytes }
    }

    private mutating func updateUsage(of flow: Flow?, _ body: (inout Usage) -> Void) {
        guard let flow else { return }
        var changed = usage[flow.id] ?? Usage()
        body(&changed)
        usage[flow.id] = changed.sum == 0 ? nil : changed
    }

    private func availability(of bytes: Int, for owner: Owner, allocated: Int, hasWaited: Bool = false) -> Availability
    {
        if fits(bytes, for: owner, allocated: allocated, hasWaited: hasWaited) { return .available }
        guard owner.flow != nil else { return .afterEviction }
        // An eviction cannot free bodies in use.
        return fits(bytes, for: owner, allocated: min(allocated, bodies), hasWaited: hasWaited)
            ? .afterEviction : .unavailable
    }

    private func fits(_ bytes: Int, for owner: Owner, allocated: Int, hasWaited: Bool) -> Bool {
        // Subtract, because the size of an extreme request saturates.
        let free = limit - allocated - reserved
        guard let flow = owner.flow else { return bytes <= free - limit + ceiling(for: owner.use) }
        return switch owner.use {
        case .work: workFits(bytes, of: flow, free: free, hasWaited: hasWaited)
        case .arrival: arrivalFits(bytes, of: flow, free: free, allocated: allocated)
        }
    }

    /// Whether work may start: a tenant's first, or further work while no tenant with less memory waits.
    private func workFits(_ bytes: Int, of flow: Flow, free: Int, hasWaited: Bool) -> Bool {
        let used = usage[flow.id]?.work ?? 0
        let isFirst = used == 0
        let isNext = !mustYield(flow)
        guard bytes <= free, isFirst || isNext else { return false }
        let isAlone = usage.keys.allSatisfy { $0 == flow.id }
        let isDue = hasWaited && isFirst && isNext && isLarge(bytes, for: flow)
        return isAlone || isDue || flow.mayTake(bytes, used: used, free: free)
    }

    private func arrivalFits(_ bytes: Int, of flow: Flow, free: Int, allocated: Int) -> Bool {
        let used = usage[flow.id]?.sum ?? 0
        // Other tenants' work does not block this tenant's sources.
        let freeOfBodies = ceiling(for: .arrival) - allocated - (reserved - reservedForWork)
        return flow.mayTake(bytes, used: used, free: min(free, freeOfBodies))
            && (bytes <= limit / 4 - used || !mustYield(flow))
    }

    /// Whether the work may exceed the quarter reserved for work, so that its share would never suffice.
    private func isLarge(_ bytes: Int, for flow: Flow) -> Bool {
        !flow.mayTake(bytes, used: 0, free: limit - ceiling(for: .arrival))
    }

    /// Whether a tenant with less memory waits; this one then gets only one piece of work, and a quarter for sources.
    private func mustYield(_ flow: Flow) -> Bool {
        waiting.values.contains { $0.flow != nil && precedes($0.flow, flow) }
    }

    /// Whether a tenant has less memory relative to its weight; tasks without a tenant go first.
    private func precedes(_ flow: Flow?, _ other: Flow?) -> Bool {
        guard let flow, let other else { return flow == nil && other != nil }
        return (usage[flow.id]?.sum ?? 0) * other.weight < (usage[other.id]?.sum ?? 0) * flow.weight
    }
}
