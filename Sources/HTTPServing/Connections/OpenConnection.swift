import HTTPTypes

/// A connection, independent of the HTTP library; all methods may be called on any thread unless stated.
protocol OpenConnection: AnyObject, Sendable {
    /// The address of the client or the last proxy.
    var peer: PeerAddress? { get }

    var isEvicted: Bool { get }

    func candidate(at now: Duration) -> ConnectionEviction.Candidate<any OpenConnection>

    /// Closes the connection unless a request has arrived since `time`; returns whether it is being closed.
    func closeForEviction(idleSince time: Duration, at now: Duration) -> Bool

    /// Ends the wait of a client that disconnected; a nil ticket stands for any. Returns whether the connection waited.
    @discardableResult
    func abandon(ticket: UInt64?) -> Bool

    /// Closes a connection whose body is late, after sending `lastResponse`; watch thread only.
    func closeLateBody(at now: Duration, lastResponse: () -> [UInt8])

    /// Wakes the connection of a client that disconnected during its body; watch thread only.
    func wakeForAbandonedBody()

    func isHeaderOverdue(at now: Duration, limit: Duration) -> Bool

    /// Whether the connection was just opened or used, so that a request may be on the way.
    func isExpectingRequest(at now: Duration) -> Bool

    /// Closes the connection if no request or header has begun; with `lastResponse`, also within a header.
    func closeIdle(lastResponse: [UInt8]?)

    func abort() -> Bool
}
