package final class MemoryReservation: Sendable {
    /// The use of the memory, and the tenant that owns it, if any.
    struct Holder: Hashable, Sendable {
        let use: MemoryBudget.Use
        let flow: TenantFlow?
    }

    private struct Held {
        var bytes: Int
        /// Whether the holder is a body that has arrived: it counts as existing, but still for its tenant.
        var isBody = false
    }

    private let budget: MemoryBudget
    private let holder: Holder
    private let held: Locked<Held>

    init(of bytes: Int, for holder: Holder, in budget: MemoryBudget) {
        self.budget = budget
        self.holder = holder
        held = Locked(Held(bytes: bytes))
    }

    deinit { release() }

    package var bytes: Int { held.withLock { $0.bytes } }

    package func split(_ bytes: Int) -> MemoryReservation {
        held.withLock { held in
            precondition(0...held.bytes ~= bytes, "more is taken out than there is")
            held.bytes -= bytes
        }
        return MemoryReservation(of: bytes, for: holder, in: budget)
    }

    /// Reserves more memory without waiting.
    package func grow(by bytes: Int) throws(MemoryBudget.Full) {
        try budget.takeNow(bytes, for: holder)
        held.withLock { $0.bytes += bytes }
    }

    /// Converts the reservation to an arrived body, which belongs to its tenant until this object is released.
    package func settle(on bytes: Int) {
        guard let flow = holder.flow else { return release() }
        let reserved = held.withLock { held in
            defer { held = Held(bytes: bytes, isBody: true) }
            return held.bytes
        }
        budget.release { state in
            state.addBody(bytes, of: flow)
            state.addReservation(-reserved, for: holder)
        }
    }

    package func release() {
        let held = held.withLock { held in
            defer { held = Held(bytes: 0) }
            return held
        }
        guard held.bytes > 0 else { return }
        budget.release { state in
            if held.isBody {
                state.addBody(-held.bytes, of: holder.flow)
            } else {
                state.addReservation(-held.bytes, for: holder)
            }
        }
    }
}
