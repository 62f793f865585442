package protocol RequestResponder: Sendable {
    /// Called on an event thread for every valid request header; must not block.
    func respond(to request: HTTPRequest) -> HTTPReply

    /// Nil if a request with this header may not have a body.
    ///
    /// A request without a length and without a coding has no body (RFC 9112 section 6.3) and goes to ``respond(to:)``
    /// alone.
    ///
    /// Called on an event thread once the header is complete, except for GET and HEAD; must not block.
    func bodyPolicy(for request: HTTPRequest) -> BodyPolicy?

    /// The request violates HTTP or the server's limits (400, 408, 413, 414, 431, 505); the connection closes after the
    /// response.
    func response(to rejection: HTTPRejection) -> HTTPResponse
}

extension RequestResponder {
    package func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? { nil }
}

package struct BodyPolicy: Sendable {
    package let maximumLength: Int
    /// Called before any of the body is read, on an event thread; must not block.
    ///
    /// A rejection closes the connection.
    ///
    /// The length is nil if it is unknown (`Transfer-Encoding: chunked`).
    package let admission: @Sendable (_ request: HTTPRequest, _ length: Int?) -> BodyAdmission

    /// By default `admission` accepts all bodies.
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
    case accepted((any BodyReservation)?)
    case rejected(HTTPResponse)
}

/// Of a request whose body is arriving: the resources it has reserved, such as memory.
package protocol BodyReservation: AnyObject, Sendable {
    /// Called on an event thread before the bytes are stored; must not block. A response rejects the rest of the body.
    func rejection(ofLength length: Int) -> HTTPResponse?

    /// Called once the body is complete, on an event thread; must not block.
    func respond(to request: HTTPRequest) -> HTTPReply
}

package enum HTTPReply: Sendable {
    case ready(HTTPResponse)
    /// Shared by many requests; the recurring answer may serve the next request with the same header, byte for byte.
    case recurring(RecurringResponse, by: any RecurringResponder)
    case deferred(@Sendable () async -> HTTPResponse)
    case waiting(ShortWait)
}

/// A wait for an external reply without a task: the event thread starts it, does other work, and then continues with
/// the answer.
///
/// It must be so short that the server can ignore a disconnecting client meanwhile.
package struct ShortWait: Sendable {
    /// Called on an event thread; must not block.
    ///
    /// Calls `ready` once, on any thread, possibly at once.
    package let begin: @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void
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

package enum HTTPRejection: String, Sendable, CaseIterable {
    case badRequest
    case headerTimeout
    case bodyTimeout
    case targetTooLong
    /// The header fields exceed 16 KiB or 64 lines.
    case fieldsTooLarge
    case bodyTooLarge
    /// A version other than HTTP/1.x.
    case versionNotSupported
}
