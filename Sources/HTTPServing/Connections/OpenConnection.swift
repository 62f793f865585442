import HTTPTypes

/// Independent of the HTTP library; all methods may be called on any thread unless they say otherwise.
protocol OpenConnection: AnyObject, Sendable {
    /// The address of the client, or of its last proxy.
    var peer: PeerAddress? { get }

    var isEvicted: Bool { get }

    func candidate(at now: Duration) -> ConnectionEviction.Candidate<any OpenConnection>

    /// Closes it unless a request has arrived since `time`; returns whether it is being closed.
    func closeForEviction(idleSince time: Duration, at now: Duration) -> Bool

    /// The client has disconnected; nil stands for any ticket. Returns whether the connection was waiting.
    @discardableResult
    func abandon(ticket: UInt64?) -> Bool

    /// Ends a late body, after the bytes of `lastResponse`; watch thread only.
    func closeLateBody(at now: Duration, lastResponse: () -> [UInt8])

    /// The client has disconnected in the middle of its body; watch thread only.
    func wakeForAbandonedBody()

    func isHeaderOverdue(at now: Duration, limit: Duration) -> Bool

    /// Whether it was opened or answered a moment ago, so that a request may be on the way.
    func isExpectingRequest(at now: Duration) -> Bool

    /// Closes it if no request or header has begun; with `lastResponse`, also in the middle of a header.
    func closeIdle(lastResponse: [UInt8]?)

    func abort() -> Bool
}
