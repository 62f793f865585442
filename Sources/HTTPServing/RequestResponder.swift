package import HTTPTypes

/// Answers requests; what ``HTTPServer`` serves.
package protocol RequestResponder: Sendable {
    /// Called on an event thread for every valid request head: must not block.
    func respond(to request: HTTPRequest) -> HTTPAnswer

    /// The answer to a request that HTTP's rules or the server's limits refuse (400, 408, 414, 431); the connection closes after it.
    func refusal(_ refusal: HTTPRefusal) -> HTTPResponse
}

/// An answer, or the promise of one.
package enum HTTPAnswer: Sendable {
    /// Ready.
    case now(HTTPResponse)
    /// Ready, and the same for many requests.
    case again(RecurringResponse)
    /// Computed by a task of its own while the connection is suspended; the task is cancelled when the client goes away.
    case later(@Sendable () async -> HTTPResponse)
}

/// Why a request was refused before a responder saw it.
package enum HTTPRefusal: String, Sendable, CaseIterable {
    /// HTTP that RFC 9112 forbids, a body where none may be, an absolute-form target.
    case badRequest
    /// The head was not complete in time.
    case headTimeout
    /// The target is longer than 8 KiB.
    case targetTooLong
    /// The header fields are more than 16 KiB or 64.
    case fieldsTooLarge
}
