package import HTTPTypes

/// An answer, or the promise of one.
package enum APIAnswer: Sendable {
    /// Ready.
    case now(HTTPResponse)
    /// Ready, and the same for many requests; a request with the very same head may be answered by `answer` alone.
    case again(RecurringResponse, by: any RecurringAnswer)
    /// Computed by a task that the caller starts, and cancels when the client goes away.
    case later(@Sendable () async -> HTTPResponse)
}

/// Why the server refuses a request before it becomes a value.
package enum APIRefusal: String, Sendable, CaseIterable {
    /// HTTP that RFC 9112 forbids, a body where none may be, an absolute-form target.
    case badRequest
    /// The head was not complete in time.
    case headTimeout
    /// The target is longer than allowed.
    case targetTooLong
    /// The header fields are more or longer than allowed.
    case fieldsTooLarge
    /// A body is expected, and its length not announced.
    case lengthRequired
    /// The body is longer than may be.
    case bodyTooLarge

    var error: APIError {
        switch self {
        case .badRequest: .badRequest
        case .headTimeout: .requestTimeout
        case .targetTooLong: .targetTooLong
        case .fieldsTooLarge: .fieldsTooLarge
        case .lengthRequired: .lengthRequired
        case .bodyTooLarge: .bodyTooLarge
        }
    }
}
