/// When the head that a connection is sending began, as far as looking at its byte counts now and then can tell.
struct UnfinishedHead {
    /// Nil while no head has begun.
    private(set) var since: Duration?
    private var afterBytes = 0

    /// Takes one look; true when the same head has been unfinished for at least `limit`.
    ///
    /// - Parameters:
    ///   - pendingBytes: Received, but not part of a complete head.
    ///   - afterBytes: Size of all complete heads before: tells one unfinished head from the next.
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
