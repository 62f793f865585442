package final class MemoryReservation: Sendable {
    private let budget: MemoryBudget
    private let held: Locked<Int>

    init(of bytes: Int, in budget: MemoryBudget) {
        self.budget = budget
        held = Locked(bytes)
    }

    deinit { release() }

    package var bytes: Int { held.withLock { $0 } }

    package func split(_ bytes: Int) -> MemoryReservation {
        held.withLock { held in
            precondition(0...held ~= bytes, "more is taken out than there is")
            held -= bytes
        }
        return MemoryReservation(of: bytes, in: budget)
    }

    /// Does not wait.
    package func grow(by bytes: Int, for use: MemoryBudget.Use) throws(MemoryBudget.Full) {
        try budget.takeNow(bytes, for: use)
        held.withLock { $0 += bytes }
    }

    package func release() {
        let bytes = held.withLock { held in
            defer { held = 0 }
            return held
        }
        if bytes > 0 { budget.release(bytes) }
    }
}
