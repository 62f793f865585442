import HTTPTypes

/// One open connection, as the server's other parts see it: they watch over it, count it, and close it.
///
/// So these parts do not depend on the library behind the connection. All methods may be called on any thread,
/// unless they say otherwise.
protocol OpenConnection: AnyObject, Sendable {
    /// The address of the client, or of its last proxy.
    var peer: PeerAddress { get }

    /// Whether the connection was closed to make room for another.
    var hasMadeWay: Bool { get }

    /// The connection as one of those that may be closed for a new one.
    func candidate(at now: Duration) -> ConnectionEviction.Candidate<any OpenConnection>

    /// Closes the connection unless a request arrived since `known`.
    ///
    /// - Returns: Whether it is being closed.
    func makeWay(idleSince known: Duration, at now: Duration) -> Bool

    /// Ends the wait for the answer with this ticket, or for any if it is nil, because the client has left.
    ///
    /// - Returns: Whether the connection was waiting.
    @discardableResult
    func abandon(ticket: UInt64?) -> Bool

    /// Ends the connection if its body should have arrived by now, or comes too slowly; `parting` makes the bytes that
    /// are sent first. Watch thread only.
    func closeLateBody(at now: Duration, parting: () -> [UInt8])

    /// Lets the event thread see that the client has left in the middle of its body; watch thread only.
    func noticeAbandonedBody()

    /// Whether the current header has been unfinished for longer than `limit`; watch thread only.
    func isHeaderOverdue(at now: Duration, limit: Duration) -> Bool

    /// Whether the connection is so young that its first request may be on the way.
    func isExpectingRequest(at now: Duration) -> Bool

    /// Closes the connection when no request is under way and no header has begun; with `parting`, also in the middle
    /// of a header, and these bytes are sent first.
    func closeIdle(parting: [UInt8]?)

    /// Ends the connection in any state.
    ///
    /// - Returns: Whether a request was under way.
    func cut() -> Bool
}
