/// Identifies a tenant whose slots, places in queues and memory leave some to other tenants.
package struct TenantFlow: Hashable, Sendable {
    package let id: Int
    /// Relative to other tenants.
    package let share: Int

    package init(id: Int, share: Int) { (self.id, self.share) = (id, share) }

    /// Whether a tenant that uses `used` may take more: its total is at most `ratio` times the rest, for its share.
    ///
    /// The last one counts as free until it is taken, so that a tenant without any may take it.
    package func mayTake(_ amount: Int = 1, used: Int, free: Int, ratio: Int = 3) -> Bool {
        guard amount <= free else { return false }
        let (limit, overflow) = (ratio * share).multipliedReportingOverflow(by: free - amount + 1)
        return overflow || used <= limit - amount
    }
}
