/// Answers requests: the routes of a listener, as the server sees them.
package protocol RequestResponder: Sendable {
    /// Called on an event thread for every valid request header: must not block.
    func respond(to request: HTTPRequest) -> HTTPAnswer

    /// Longest body in bytes that a request with this header may have; 0, which allows none, unless a responder says
    /// otherwise.
    ///
    /// Called on an event thread, before the body is read.
    func maximumBodyLength(of request: HTTPRequest) -> Int

    /// The answer to a request that HTTP's rules or the server's limits refuse (400, 408, 411, 413, 414, 431); the connection closes
    /// after it.
    func refusal(_ refusal: HTTPRefusal) -> HTTPResponse
}

extension RequestResponder {
    /// No request has a body.
    package func maximumBodyLength(of request: HTTPRequest) -> Int { 0 }
}

/// An answer, or the promise of one.
package enum HTTPAnswer: Sendable {
    /// Ready.
    case now(HTTPResponse)
    /// Ready, and the same for many requests; a request with the same header, byte for byte, may be answered by
    /// `answer` alone.
    case again(RecurringResponse, by: any RecurringAnswer)
    /// Computed by a task that the server starts, and cancels when the client goes away.
    case later(@Sendable () async -> HTTPResponse)
}

/// Why a request was refused before a responder saw it.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    /// HTTP that RFC 9112 forbids, a body that the route does not take, an absolute-form target.
    case badRequest
    /// The header was not complete in time.
    case headTimeout
    /// The target is longer than 8 KiB.
    case targetTooLong
    /// The header fields are more than 16 KiB or 64.
    case fieldsTooLarge
    /// A body is expected and its length not announced.
    case lengthRequired
    /// The body is longer than allowed.
    case bodyTooLarge
}
