/// Identifies a tenant whose slots, places in queues and memory leave some to other tenants.
package struct TenantFlow: Hashable, Sendable {
    package let id: Int
    /// Relative to other tenants.
    package let share: Int

    package init(id: Int, share: Int) { (self.id, self.share) = (id, share) }

    /// Whether a tenant that has `own` may take more: at most `times` what is then free, for its share.
    ///
    /// The last one is free until it is taken, so that a tenant without any may take it.
    package func leavesRoom(taking more: Int = 1, beside own: Int, of free: Int, times: Int = 3) -> Bool {
        guard more <= free else { return false }
        let (most, overflow) = (times * share).multipliedReportingOverflow(by: free - more + 1)
        return overflow || own <= most - more
    }
}
