/// When a connection's current header began, estimated by checking its byte counts at intervals.
struct UnfinishedHead {
    /// Nil while no header has begun.
    private(set) var since: Duration?
    private var afterBytes = 0

    /// Checks once; true when the same header has been unfinished for at least `limit`.
    ///
    /// - Parameters:
    ///   - pendingBytes: Received, but not part of a complete header.
    ///   - afterBytes: Size of all earlier complete headers: distinguishes one unfinished header from the next.
    mutating func isOverdue(pendingBytes: Int, afterBytes: Int, at now: Duration, limit: Duration) -> Bool {
        guard pendingBytes > 0 else {
            since = nil
            return false
        }
        guard let since, self.afterBytes == afterBytes else {
            self.since = now
            self.afterBytes = afterBytes
            return false
        }
        return now - since >= limit
    }
}
