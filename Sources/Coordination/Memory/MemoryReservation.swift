package final class MemoryReservation: Sendable {
    /// The use of the memory, and the tenant that owns it, if any.
    struct Owner: Hashable, Sendable {
        let use: MemoryBudget.Use
        let flow: Flow?
    }

    private struct State {
        var bytes: Int
        /// Whether the memory holds a body that has arrived: it counts as allocated, but still for its tenant.
        var isBody = false
    }

    private let budget: MemoryBudget
    private let owner: Owner
    private let state: Locked<State>

    init(of bytes: Int, for owner: Owner, in budget: MemoryBudget) {
        self.budget = budget
        self.owner = owner
        state = Locked(State(bytes: bytes))
    }

    deinit { release() }

    package var bytes: Int { state.withLock { $0.bytes } }

    package func split(_ bytes: Int) -> MemoryReservation {
        state.withLock { state in
            precondition(0...state.bytes ~= bytes, "the part is larger than the reservation")
            state.bytes -= bytes
        }
        return MemoryReservation(of: bytes, for: owner, in: budget)
    }

    /// Reserves more memory without waiting.
    package func grow(by bytes: Int) throws(MemoryBudget.Full) {
        try budget.takeNow(bytes, for: owner)
        state.withLock { $0.bytes += bytes }
    }

    /// Converts the reservation to an arrived body, which belongs to its tenant until this object is released.
    package func convertToBody(byteCount: Int) {
        guard let flow = owner.flow else { return release() }
        let reserved = state.exchange(State(bytes: byteCount, isBody: true)).bytes
        budget.release { budget in
            budget.addBody(byteCount, of: flow)
            budget.addReservation(-reserved, for: owner)
        }
    }

    package func release() {
        let released = state.exchange(State(bytes: 0))
        guard released.bytes > 0 else { return }
        budget.release { budget in
            if released.isBody {
                budget.addBody(-released.bytes, of: owner.flow)
            } else {
                budget.addReservation(-released.bytes, for: owner)
            }
        }
    }
}
