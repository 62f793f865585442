import HTTPTypes

/// An open connection as the rest of the server sees it, independent of the HTTP library.
///
/// All methods may be called on any thread unless they say otherwise.
protocol OpenConnection: AnyObject, Sendable {
    /// The address of the client, or of its last proxy.
    var peer: PeerAddress { get }

    /// Whether the connection was closed to make room for another.
    var isEvicted: Bool { get }

    func candidate(at now: Duration) -> ConnectionEviction.Candidate<any OpenConnection>

    /// Closes the connection unless a request has arrived since `known`.
    ///
    /// - Returns: Whether it is being closed.
    func closeForEviction(idleSince known: Duration, at now: Duration) -> Bool

    /// Ends the wait for the response with this ticket, or any if nil, because the client has disconnected.
    ///
    /// - Returns: Whether the connection was waiting.
    @discardableResult
    func abandon(ticket: UInt64?) -> Bool

    /// Ends the connection if its body is late or too slow, after sending the bytes that `parting` returns.
    ///
    /// Watch thread only.
    func closeLateBody(at now: Duration, lastResponse: () -> [UInt8])

    /// Notifies the event thread that the client has disconnected in the middle of its body; watch thread only.
    func wakeForAbandonedBody()

    /// Whether the current header has been incomplete for longer than `limit`; watch thread only.
    func isHeaderOverdue(at now: Duration, limit: Duration) -> Bool

    /// Whether the connection is so new that its first request may be on the way.
    func isExpectingRequest(at now: Duration) -> Bool

    /// Closes the connection if no request is in progress and no header has begun; with `parting`, also in the middle
    /// of a header, after sending these bytes.
    func closeIdle(lastResponse: [UInt8]?)

    /// Ends the connection in any state.
    ///
    /// - Returns: Whether a request was in progress.
    func abort() -> Bool
}
