/// The memory available for images: existing blocks, and reservations for work on them.
///
/// Counts all existing blocks, plus reservations for blocks yet to be allocated. If there is too little memory, a task
/// evicts cache entries in two steps, and then waits in line for a bounded time. Work takes precedence over arrivals,
/// because it ends with less memory than it began with.
///
/// A tenant gets more only while enough stays free for others. Its reservations count, and its arrived bodies while
/// they are in use.
package final class MemoryBudget: Sendable {
    package struct Full: Error {
        package init() {}
    }

    /// The request exceeds the whole budget.
    package struct NeverFits: Error {}

    package enum Use: Int, Sendable, CaseIterable {
        /// Work on an image that has already arrived.
        case work
        /// Incoming bytes that will need work; they may not use the last quarter of the budget.
        case arrival
    }

    package enum Eviction: String, Sendable, CaseIterable {
        case preferred
        case empty
    }

    /// Evicts cache entries and returns the number of released bytes; called on any thread, outside the budget's lock.
    package typealias Evicting = @Sendable (Eviction) -> Int

    package struct Statistics: Sendable, Equatable {
        package var limit, allocated, reserved, waiting, rejections: Int
        package var evictions: [Eviction: Int]
    }

    typealias State = MemoryBudgetState<CheckedContinuation<Void, any Error>>

    private let state: Locked<State>
    private let maximumWait: Duration
    private let timekeeper: any Timekeeper
    private let allocated: @Sendable () -> Int
    private let evictFromCaches: Evicting

    /// - Parameters:
    ///   - limit: The maximum of existing and reserved bytes together.
    ///   - maximumWait: The maximum time for which a task waits for memory.
    ///   - maximumWaiting: The number of tasks that may wait; further ones are rejected immediately.
    ///   - allocated: Returns the number of existing bytes; called under the budget's lock, so it must be fast.
    package init(
        limit: Int = .max, maximumWait: Duration = .seconds(5), maximumWaiting: Int = 1_024,
        timekeeper: any Timekeeper = SystemTimekeeper(), allocated: @escaping @Sendable () -> Int = { 0 },
        evict: @escaping Evicting = { _ in 0 }
    ) {
        state = Locked(State(limit: limit, maximumWaiting: maximumWaiting))
        self.maximumWait = maximumWait
        self.timekeeper = timekeeper
        self.allocated = allocated
        evictFromCaches = evict
    }

    package var limit: Int { state.withLock { $0.limit } }

    package var statistics: Statistics {
        state.withLock { state in
            Statistics(
                limit: state.limit, allocated: allocated(), reserved: state.reserved, waiting: state.waitingCount,
                rejections: state.rejections, evictions: state.evictions)
        }
    }

    /// Reserves memory, waiting if necessary; throws ``NeverFits``, ``Full``, or `CancellationError`.
    package func reserve(
        _ bytes: Int, for use: Use = .work, of flow: Flow? = nil
    ) async throws -> MemoryReservation {
        let owner = MemoryReservation.Owner(use: use, flow: flow)
        let id = try state.withLock { state throws(NeverFits) in
            guard bytes <= state.ceiling(for: use) else { throw NeverFits() }
            return state.take(bytes, for: owner, allocated: allocated()) == .available ? nil : state.newID()
        }
        guard let id else { return MemoryReservation(of: bytes, for: owner, in: self) }
        do {
            return try await withDeadline(timekeeper.now + maximumWait, by: timekeeper) {
                try await self.wait(id, for: bytes, owner: owner)
                // If the deadline has passed, dropping the reservation releases it.
                return MemoryReservation(of: bytes, for: owner, in: self)
            }
        } catch is DeadlineExceeded {
            state.withLock { $0.rejections += 1 }
            throw Full()
        }
    }

    package func reserveNow(
        _ bytes: Int, for use: Use = .work, of flow: Flow? = nil
    ) throws(Full) -> MemoryReservation {
        let owner = MemoryReservation.Owner(use: use, flow: flow)
        try takeNow(bytes, for: owner)
        return MemoryReservation(of: bytes, for: owner, in: self)
    }

    /// Evicts cache entries because the system is short of memory; returns the number of released bytes.
    @discardableResult package func evict(_ step: Eviction) -> Int {
        let freed = perform(step)
        admit()
        return freed
    }

    /// Admits waiters, because memory may have been freed without notification.
    package func admitWaiters() { if state.withLock({ $0.waitingCount > 0 }) { admit() } }

    func takeNow(_ bytes: Int, for owner: MemoryReservation.Owner) throws(Full) {
        for step in Self.evictionSteps {
            if let step { perform(step) }
            let availability = state.withLock { $0.take(bytes, for: owner, allocated: allocated()) }
            if availability == .available { return }
            if availability == .unavailable { break }
        }
        state.withLock { $0.rejections += 1 }
        throw Full()
    }

    /// Applies a change that frees memory, then admits waiters.
    func release(_ body: (inout State) -> Void) {
        let hasWaiting = state.withLock { state in
            body(&state)
            return state.waitingCount > 0
        }
        if hasWaiting { admit() }
    }

    private func wait(_ id: State.ID, for bytes: Int, owner: MemoryReservation.Owner) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let rejection: (any Error)? = state.withLock { state in
                    if Task.isCancelled { return CancellationError() }
                    return state.enter(id, bytes: bytes, for: owner, continuation: continuation) ? nil : Full()
                }
                if let rejection { return continuation.resume(throwing: rejection) }
                admit()
            }
        } onCancel: {
            state.withLock { $0.leave(id) }?.resume(throwing: CancellationError())
        }
    }

    /// Admits waiters while there is enough memory; evicts cache entries when there is too little.
    private func admit() {
        for step in Self.evictionSteps {
            if let step { perform(step) }
            let (continuations, isShort) = state.withLock { $0.admit(allocated: allocated()) }
            for continuation in continuations { continuation.resume() }
            if !isShort { return }
        }
    }

    /// No eviction, then each one.
    private static let evictionSteps: [Eviction?] = [nil] + Eviction.allCases

    @discardableResult private func perform(_ step: Eviction) -> Int {
        let freed = evictFromCaches(step)
        if freed > 0 { state.withLock { $0.evictions[step, default: 0] += 1 } }
        return freed
    }
}
