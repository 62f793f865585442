package import HTTPTypes
import Text

/// A failure of a request that this module finds, before or instead of the pipeline.
package enum APIError: Error, Equatable {
    /// A required parameter is missing.
    case missingParameter(String)
    /// A parameter of this name does not exist; the nearest that does, if one is near.
    case unknownParameter(String, nearest: String? = nil)
    /// A parameter is given twice, by itself or by its other name.
    case repeatedParameter(String)
    /// The value of a parameter is none of a closed list.
    case badChoice(String, allowed: [String])
    /// The size or quality of a request that is not signed is none that the operator allows; those that are.
    case sizeNotAllowed(String, allowed: [Int])
    /// A request that is not signed names tags, and the operator does not allow that.
    case tagsNotAllowed
    /// The grammar does not allow a parameter's value, or the value contradicts another one; the reason is for the
    /// client.
    case badParameter(String, String)
    /// An option of another service that its free edition has not got, or that cannot be done here; the reason is for
    /// the client.
    case unsupportedOption(String, String)
    /// The source's URL cannot be one; the reason is for the client.
    case badURL(String)
    /// The signature is missing, or made with none of the keys.
    case badSignature
    /// The key of a client is missing, or wrong.
    case badKey
    /// The time in `expires` has passed.
    case expired
    /// A browser sent the request for another site, or to a name that is none of the listener's. The reason is for the
    /// client, the detail for the log.
    case crossSite(reason: String, detail: String)
    /// The service itself sent the request, for a source that leads back to it.
    case requestLoop
    /// Nothing is served at this path.
    case noSuchRoute
    /// The path does not support the method.
    case methodNotAllowed
    /// The request is not HTTP as RFC 9112 defines it.
    case badRequest
    /// The request's header took too long.
    case requestTimeout
    /// The request's body took too long, or came too slowly.
    case bodyTimeout
    /// A version of HTTP other than 1.x.
    case versionNotSupported
    /// The request target is too long.
    case targetTooLong
    /// The header fields are too many or too long.
    case fieldsTooLarge
    /// A trusted proxy has passed on as many requests of the client as it may have under way.
    case tooManyOfClient
    /// The service is about to end.
    case draining
    /// The client has left, so no client reads this answer.
    case clientGone
    /// The request took longer than it may.
    case deadlineExceeded
    /// A body is expected, but its length is not announced.
    case lengthRequired
    /// Images that clients send are not taken.
    case uploadsOff
    /// The image in the body is longer than a source may be.
    case sourceTooLarge
    /// The body is too long.
    case bodyTooLarge
    /// None of several images could be made, for different reasons.
    case nothingMade
    /// An answer that has to be complete before it is sent would be longer than that may be.
    case answerTooLarge
    /// `Content-Type` says that the body is no image.
    case notAnImageType(String)
    /// `Content-Type` does not say that the body is JSON.
    case unsupportedMediaType
    /// The body is not what its route takes: the place, as a JSON Pointer, and the reason for the client.
    case badBody(String, String)
    /// A job names a host that no job may have called: the setting that forbids it, and what it forbids.
    case callbackNotAllowed(String)
    /// A rendition is to be put below an origin that is not there, or that takes no writes.
    case originNotWritable
    /// There is no job with this ID, or no longer.
    case noSuchJob
    /// No caller waits under this receipt.
    case noSuchReceipt
    /// There are as many readers of events as there may be.
    case tooManyReaders
    /// A bug; the description is for the log.
    case unexpected(String)
}

extension APIError {
    /// The failure of a parameter that none of the `known` ones is.
    package static func unknown(_ name: String, among known: [String]) -> APIError {
        .unknownParameter(String(name.prefix(longestQuotedName)), nearest: NearestName.of(name, among: known))
    }

    /// Most characters of a parameter's name that an error repeats.
    package static let longestQuotedName = 64
}

extension HTTPRefusal {
    /// The refusal as a failure of this module.
    package var error: APIError {
        switch self {
        case .badRequest: .badRequest
        case .headerTimeout: .requestTimeout
        case .targetTooLong: .targetTooLong
        case .fieldsTooLarge: .fieldsTooLarge
        case .bodyTooLarge: .bodyTooLarge
        case .bodyTimeout: .bodyTimeout
        case .versionNotSupported: .versionNotSupported
        }
    }
}
