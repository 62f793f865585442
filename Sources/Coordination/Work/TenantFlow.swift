/// Identifies a tenant for fair sharing of slots, queue places and memory.
package struct TenantFlow: Hashable, Sendable {
    package let id: Int
    /// The weight relative to other tenants.
    package let weight: Int

    package init(id: Int, weight: Int) {
        self.id = id
        self.weight = weight
    }

    /// Whether a tenant that uses `used` may take more: in total at most `ratio` times the rest, by its weight.
    ///
    /// A tenant that uses none may take the last one.
    package func mayTake(_ amount: Int = 1, used: Int, free: Int, ratio: Int = 3) -> Bool {
        guard amount <= free else { return false }
        let (limit, overflow) = (ratio * weight).multipliedReportingOverflow(by: free - amount + 1)
        return overflow || used <= limit - amount
    }
}
