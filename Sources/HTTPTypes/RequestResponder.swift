package protocol RequestResponder: Sendable {
    /// Answers a request.
    ///
    /// Called on an event thread for every valid request header; must not block.
    func respond(to request: HTTPRequest) -> HTTPReply

    /// Returns the rules for the body of a request with this header; nil if it may not have one.
    ///
    /// A request without a length and without a coding has no body (RFC 9112 section 6.3) and goes to ``respond(to:)``
    /// alone.
    ///
    /// Called on an event thread once the header is complete, except for GET and HEAD; must not block.
    func bodyPolicy(for request: HTTPRequest) -> BodyPolicy?

    /// Returns the response to a request that violates HTTP or the server's limits (400, 408, 413, 414, 431, 505); the
    /// connection closes after it.
    func response(to rejection: HTTPRejection) -> HTTPResponse
}

extension RequestResponder {
    package func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? { nil }
}

package struct BodyPolicy: Sendable {
    package let maximumLength: Int
    /// Decides on a request that announces a body, before any of it is read; a rejection closes the connection.
    ///
    /// The length is nil if it is unknown (`Transfer-Encoding: chunked`).
    ///
    /// Called on an event thread; must not block.
    package let admission: @Sendable (_ request: HTTPRequest, _ length: Int?) -> BodyAdmission

    /// Allows bodies up to a length if `admission` accepts them; by default it accepts all.
    package init(
        maximumLength: Int,
        admission: @escaping @Sendable (_ request: HTTPRequest, _ length: Int?) -> BodyAdmission = { _, _ in
            .accepted(nil)
        }
    ) {
        self.maximumLength = maximumLength
        self.admission = admission
    }
}

package enum BodyAdmission: Sendable {
    /// The body is read; the hold lives until it is complete, and then answers the request.
    case accepted((any BodyReservation)?)
    case rejected(HTTPResponse)
}

/// A request whose body is arriving, with the resources it has reserved, such as memory.
package protocol BodyReservation: AnyObject, Sendable {
    /// Reserves room for `length` bytes of the body; a response rejects the rest of it.
    ///
    /// Called on an event thread before the bytes are stored; must not block.
    func rejection(ofLength length: Int) -> HTTPResponse?

    /// Answers the request once its body is complete.
    ///
    /// Called once, on an event thread; must not block.
    func respond(to request: HTTPRequest) -> HTTPReply
}

/// A response, now or later.
package enum HTTPReply: Sendable {
    case ready(HTTPResponse)
    /// A complete response shared by many requests; the recurring answer may serve the next request with the same
    /// header, byte for byte.
    case recurring(RecurringResponse, by: any RecurringResponder)
    /// A response computed by a task, which the server starts, and cancels when the client disconnects.
    case deferred(@Sendable () async -> HTTPResponse)
    case waiting(ShortWait)
}

/// A wait for an external reply without a task: the event thread starts it, does other work, and then continues with
/// the answer.
///
/// It must be so short that the server can ignore a disconnecting client meanwhile.
package struct ShortWait: Sendable {
    /// Starts the wait; `ready` is called once, on any thread, possibly at once.
    ///
    /// Called on an event thread; must not block.
    package let begin: @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void
    /// Returns the answer after the wait.
    ///
    /// Called on an event thread after `ready`; must not block.
    package let answer: @Sendable () -> HTTPReply
    package let onAbandon: @Sendable () -> Void

    package init(
        begin: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void,
        answer: @escaping @Sendable () -> HTTPReply, onAbandon: @escaping @Sendable () -> Void
    ) {
        self.begin = begin
        self.answer = answer
        self.onAbandon = onAbandon
    }
}

/// The reason for rejecting a request before a responder sees it.
package enum HTTPRejection: String, Sendable, CaseIterable {
    /// HTTP that RFC 9112 forbids, a body that the route does not accept, or an absolute-form target.
    case badRequest
    case headerTimeout
    /// The body did not arrive in time, or arrived too slowly.
    case bodyTimeout
    /// The target is longer than 8 KiB.
    case targetTooLong
    /// The header fields exceed 16 KiB or 64 lines.
    case fieldsTooLarge
    case bodyTooLarge
    /// A version other than HTTP/1.x.
    case versionNotSupported
}
