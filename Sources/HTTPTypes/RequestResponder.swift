/// Answers requests: the routes of a listener, as the server sees them.
package protocol RequestResponder: Sendable {
    /// The answer to `request`. Called on an event thread for every valid request header; must not block.
    func respond(to request: HTTPRequest) -> HTTPAnswer

    /// How the body of a request with this header is taken; nil if it may have none.
    ///
    /// A request without a length and without a coding has no body (RFC 9112 section 6.3) and is judged by
    /// ``respond(to:)`` alone.
    ///
    /// Called on an event thread once the header is complete, but for GET and HEAD; must not block.
    func intake(of request: HTTPRequest) -> BodyIntake?

    /// The answer to a request that HTTP's rules or the server's limits refuse (400, 408, 413, 414, 431, 505); the
    /// connection closes after it.
    func refusal(_ refusal: HTTPRefusal) -> HTTPResponse
}

extension RequestResponder {
    /// No request has a body.
    package func intake(of request: HTTPRequest) -> BodyIntake? { nil }
}

/// How a route takes bodies.
package struct BodyIntake: Sendable {
    /// Most bytes of a body.
    package let maximumLength: Int
    /// Judges a request that announces a body, before any of it is read; an answer given here is the connection's last.
    ///
    /// The length is nil if the client does not say it (`Transfer-Encoding: chunked`).
    ///
    /// Called on an event thread; must not block.
    package let admission: @Sendable (_ request: HTTPRequest, _ length: Int?) -> BodyAdmission

    /// Bodies up to a length that `admission` lets in, or all of them.
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

/// Whether a body is read.
package enum BodyAdmission: Sendable {
    /// It is read; the hold lives until all of it has arrived, and then answers the request.
    case accepted((any BodyHold)?)
    /// It is not read: this answers the request.
    case refused(HTTPResponse)
}

/// A request whose body arrives, and what it holds meanwhile, such as memory.
package protocol BodyHold: AnyObject, Sendable {
    /// Makes room for a body of which `length` bytes have arrived; an answer refuses the rest of it.
    ///
    /// Called on an event thread before the bytes are kept; must not block.
    func refusal(ofLength length: Int) -> HTTPResponse?

    /// The answer to the request, whose body is complete.
    ///
    /// Called on an event thread, once; must not block.
    func respond(to request: HTTPRequest) -> HTTPAnswer
}

/// An answer, or the promise of one.
package enum HTTPAnswer: Sendable {
    /// An answer that is ready.
    case now(HTTPResponse)
    /// An answer that is ready and the same for many requests. The next request with the same header, byte for byte,
    /// may be answered by the recurring answer alone.
    case again(RecurringResponse, by: any RecurringAnswer)
    /// An answer that is computed by a task, which the server starts, and cancels when the client leaves.
    case later(@Sendable () async -> HTTPResponse)
    /// An answer that needs a reply from outside first, which comes soon or not at all.
    case soon(ShortWait)
}

/// A wait for a reply from outside, without a task: the event thread starts it, does other work, and goes on with the
/// answer.
///
/// It must be so short that the server need not notice meanwhile that the client leaves.
package struct ShortWait: Sendable {
    /// Starts the wait; `ready` is called once, on any thread, perhaps at once.
    ///
    /// Called on an event thread; must not block.
    package let begin: @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void
    /// Gives the answer once the wait is over.
    ///
    /// Called on an event thread after `ready`; must not block.
    package let answer: @Sendable () -> HTTPAnswer
    /// Called instead of `answer` if the connection has ended.
    package let abandoned: @Sendable () -> Void

    /// A wait in these steps.
    package init(
        begin: @escaping @Sendable (_ ready: @escaping @Sendable () -> Void) -> Void,
        answer: @escaping @Sendable () -> HTTPAnswer, abandoned: @escaping @Sendable () -> Void
    ) {
        self.begin = begin
        self.answer = answer
        self.abandoned = abandoned
    }
}

/// Why a request was refused before a responder saw it.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    /// HTTP that RFC 9112 forbids, a body that the route does not take, an absolute-form target.
    case badRequest
    /// The header was not complete in time.
    case headerTimeout
    /// The body was not complete in time, or came too slowly.
    case bodyTimeout
    /// The target is longer than 8 KiB.
    case targetTooLong
    /// The header fields are more than 16 KiB or 64.
    case fieldsTooLarge
    /// The body is longer than allowed.
    case bodyTooLarge
    /// A version of HTTP other than 1.x.
    case versionNotSupported
}
