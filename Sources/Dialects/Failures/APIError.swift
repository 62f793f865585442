package import HTTPTypes
import Text

/// A failure of a request that this module detects, before or instead of the pipeline.
package enum APIError: Error, Equatable {
    case missingParameter(String)
    /// There is no parameter with this name; `nearest` is a similar one, if there is one.
    case unknownParameter(String, nearest: String? = nil)
    /// A parameter appears twice, possibly under an alias.
    case repeatedParameter(String)
    /// The value of a parameter is not in a closed list.
    case badChoice(String, allowed: [String])
    case sizeNotAllowed(String, allowed: [Int])
    case tagsNotAllowed
    /// A parameter's value is invalid, or contradicts another one; the reason is for the client.
    case badParameter(String, String)
    /// An option of another service that its free edition lacks, or that is not supported here; the reason is for the
    /// client.
    case unsupportedOption(String, String)
    /// The source's URL is invalid; the reason is for the client.
    case badURL(String)
    /// The signature is missing, or no key matches it.
    case badSignature
    case badKey
    /// The time in `expires` has passed.
    case expired
    /// A browser sent the request for another site, or to an unknown host name of the listener. The reason is for the
    /// client, the detail for the log.
    case crossSite(reason: String, detail: String)
    /// The service itself sent the request, for a source that leads back to it.
    case requestLoop
    case noSuchRoute
    case methodNotAllowed
    /// The request is not HTTP as RFC 9112 defines it.
    case badRequest
    case requestTimeout
    /// The request's body took too long, or arrived too slowly.
    case bodyTimeout
    /// A version of HTTP other than 1.x.
    case versionNotSupported
    case targetTooLong
    case fieldsTooLarge
    /// A trusted proxy has forwarded too many pending requests of the client.
    case tooManyOfClient
    case draining
    case clientGone
    case deadlineExceeded
    /// A body is expected, but its length is not announced.
    case lengthRequired
    case uploadsOff
    case sourceTooLarge
    case bodyTooLarge
    /// None of several images could be rendered, for different reasons.
    case nothingMade
    /// A response that must be complete before it is sent would exceed its limit.
    case answerTooLarge
    case notAnImageType(String)
    /// `Content-Type` does not declare a JSON body.
    case unsupportedMediaType
    /// The body does not match the route: the position, as a JSON Pointer, and the reason for the client.
    case badBody(String, String)
    /// A job's callback names a forbidden host: the setting that forbids it, and the reason.
    case callbackNotAllowed(String)
    /// A rendition's destination is an origin that does not exist, or does not accept writes.
    case originNotWritable
    case noSuchJob
    case noSuchReceipt
    case tooManyReaders
    /// A bug; the description is for the log.
    case unexpected(String)
}

extension APIError {
    package static func unknown(_ name: String, among known: [String]) -> APIError {
        .unknownParameter(String(name.prefix(longestQuotedName)), nearest: NearestName.of(name, among: known))
    }

    /// Most characters of a parameter's name that an error repeats.
    package static let longestQuotedName = 64
}

extension HTTPRefusal {
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
