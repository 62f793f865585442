import HTTPTypes

/// What the edge itself refuses, before or instead of the pipeline.
package enum APIError: Error, Equatable {
    /// A parameter that must be there is not.
    case missingParameter(String)
    /// A parameter of this name does not exist.
    case unknownParameter(String)
    /// A parameter's value is not what its grammar allows, or contradicts another; the reason is for the client.
    case badParameter(String, String)
    /// The source's URL cannot be one; the reason is for the client.
    case badURL(String)
    /// The signature is missing or not ours.
    case badSignature
    /// The time in `expires` has passed.
    case expired
    /// A browser asks for another site, or under a name that is not ours; the reason is for the client, the detail for the log.
    case crossSite(reason: String, detail: String)
    /// Nothing is served at this path.
    case noSuchRoute
    /// The path does not know the method.
    case methodNotAllowed
    /// Not HTTP as RFC 9112 has it.
    case badRequest
    /// The request's head took too long.
    case requestTimeout
    /// The request target is too long.
    case targetTooLong
    /// The header fields are too many or too long.
    case fieldsTooLarge
    /// The service is about to end.
    case draining
    /// Whoever asked has gone away; nobody reads this answer.
    case clientGone
    /// The request took longer than it may.
    case deadlineExceeded
    /// A body is expected, and its length not announced.
    case lengthRequired
    /// The body is longer than may be.
    case bodyTooLarge
    /// The body is not said to be JSON.
    case unsupportedMediaType
    /// The body is not what its route takes; where, as a JSON Pointer, and the reason for the client.
    case badBody(String, String)
    /// There is no job of this name, or no more.
    case noSuchJob
    /// No caller waits under this receipt.
    case noSuchReceipt
    /// A bug; the description is for the log.
    case unexpected(String)
}

extension HTTPRefusal {
    /// The refusal as this edge words it.
    var error: APIError {
        switch self {
        case .badRequest: .badRequest
        case .headerTimeout: .requestTimeout
        case .targetTooLong: .targetTooLong
        case .fieldsTooLarge: .fieldsTooLarge
        case .lengthRequired: .lengthRequired
        case .bodyTooLarge: .bodyTooLarge
        }
    }
}
