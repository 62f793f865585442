/// Identifies a tenant for fair sharing of slots, queue places and memory.
package struct TenantFlow: Hashable, Sendable {
    package let id: Int
    /// The weight relative to other tenants.
    package let share: Int

    package init(id: Int, share: Int) {
        self.id = id
        self.share = share
    }

    /// Whether a tenant that uses `used` may take more: in total at most `ratio` times the rest, relative to its share.
    ///
    /// A tenant that uses none may take the last one.
    package func mayTake(_ amount: Int = 1, used: Int, free: Int, ratio: Int = 3) -> Bool {
        guard amount <= free else { return false }
        let (limit, overflow) = (ratio * share).multipliedReportingOverflow(by: free - amount + 1)
        return overflow || used <= limit - amount
    }
}
