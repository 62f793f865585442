package protocol RequestResponder: Sendable {
    /// Called on an event thread for every valid request header; must not block.
    func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse>

    /// Returns nil if a request with this header may not have a body.
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

    /// The default `admission` accepts all bodies.
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

/// The resources, such as memory, that a request reserves while its body arrives.
package protocol BodyReservation: AnyObject, Sendable {
    /// Called on an event thread before the bytes are stored; must not block. A response rejects the rest of the body.
    func rejection(ofLength length: Int) -> HTTPResponse?

    /// Called when the server rejects the body before its end, on an event thread; must not block.
    func interrupt(by rejection: HTTPRejection)

    /// Called once the body is complete, on an event thread; must not block.
    func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse>
}
