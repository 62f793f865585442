import Coordination

/// The time that one request has waited for each shared layer.
package final class LayerWaitBudgets: Sendable {
    private let budgets = Locked<[LayerName: WaitBudget]>([:])

    package init() {}

    subscript(layer: LayerName) -> WaitBudget {
        budgets.withLock { budgets in
            let budget = budgets[layer] ?? WaitBudget()
            budgets[layer] = budget
            return budget
        }
    }
}
