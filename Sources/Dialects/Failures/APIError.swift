package import HTTPTypes
import Text
package import ThumbnailTypes

package struct APIError: ServiceError, Equatable {
    package let response: ErrorResponse

    private init(
        _ status: HTTPResponse.Status, code: ErrorCode, category: ErrorCategory, message: String, detail: String? = nil,
        parameter: String? = nil, allowed: [String] = [], nearest: String? = nil
    ) {
        response = ErrorResponse(
            status, code: code, category: category, message: message, detail: detail, parameter: parameter,
            allowed: allowed, nearest: nearest, retryAfter: status == .serviceUnavailable ? 1 : nil)
    }

    package static func missingParameter(_ name: String) -> Self {
        Self(
            .badRequest, code: .missingParameter, category: .request, message: "A required parameter is missing.",
            parameter: name)
    }

    package static func unknownParameter(_ name: String, nearest: String? = nil) -> Self {
        let suggestion = nearest.map { "; did you mean \($0)?" } ?? "."
        return Self(
            .badRequest, code: .unknownParameter, category: .request, message: "Unknown parameter\(suggestion)",
            parameter: name, nearest: nearest)
    }

    package static func repeatedParameter(_ name: String) -> Self {
        badParameter(name, "The parameter is repeated, possibly under its alias.")
    }

    package static func badParameter(_ name: String, _ reason: String) -> Self {
        Self(.badRequest, code: .badParameter, category: .request, message: reason, parameter: name)
    }

    package static func badChoice(_ name: String, allowed: [String]) -> Self {
        Self(
            .badRequest, code: .badParameter, category: .request, message: "Must be \(alternatives(allowed)).",
            parameter: name, allowed: allowed)
    }

    static func withoutFaces(_ name: String) -> Self { .badParameter(name, "The setting faceDetection is off.") }

    /// - Parameter ofAll: Whether the limit also applies to signed requests.
    package static func sizeNotAllowed(_ name: String, allowed sizes: [Int], ofAll: Bool = false) -> Self {
        let allowed = sizes.map(String.init)
        let unit = name == "q" ? "" : " pixels including the device pixel ratio"
        return Self(
            .badRequest, code: .sizeNotAllowed, category: .request,
            message: "Must be \(alternatives(allowed))\(unit)\(ofAll ? "" : ", unless the request is signed").",
            parameter: name, allowed: allowed)
    }

    /// Only a paid edition of the original has the option, or Alula does not support it.
    package static func unsupportedOption(_ name: String, _ reason: String) -> Self {
        Self(.badRequest, code: .unsupportedOption, category: .request, message: reason, parameter: name)
    }

    package static func badURL(_ reason: String) -> Self {
        Self(.badRequest, code: .badURL, category: .request, message: reason, parameter: "url")
    }

    /// - Parameter pointer: A JSON Pointer to the invalid value.
    package static func badBody(_ pointer: String, _ reason: String) -> Self {
        Self(
            .badRequest, code: .badBody, category: .request, message: reason, parameter: pointer.isEmpty ? nil : pointer
        )
    }

    /// Returns the error of a reload that found errors in the settings; the current ones stay in use.
    package static func badSettings(_ lines: [String]) -> Self {
        Self(.unprocessableContent, code: .badSettings, category: .request, message: lines.joined(separator: "; "))
    }

    package static let badRequest = Self(
        .badRequest, code: .badRequest, category: .request,
        message: "The request is not valid HTTP/1.1, or has a body that its path does not accept.")
    package static let badKey = Self(
        .unauthorized, code: .badKey, category: .policy, message: "The key is missing or wrong.")
    package static let badToken = Self(
        .unauthorized, code: .badKey, category: .policy,
        message: "The admin token (adminToken) is required in Authorization: Bearer.")
    package static let badSignature = Self(
        .forbidden, code: .badSignature, category: .policy,
        message: "The request is not signed, or its signature is not valid.")
    package static let expired = Self(.forbidden, code: .expired, category: .policy, message: "The URL has expired.")
    package static let tagsNotAllowed = Self(
        .forbidden, code: .tagNotAllowed, category: .policy, message: "Only signed requests may name tags.",
        parameter: "tag")

    /// Returns the error of a request that a browser sent for another site, or to an unknown host name.
    package static func crossSite(reason: String, detail: String) -> Self {
        Self(.forbidden, code: .crossSite, category: .policy, message: reason, detail: detail)
    }

    /// The service requests its own URL.
    ///
    /// The status is not 5xx, which would count as a failure of the origin, that is, of the service's own host.
    package static let requestLoop = Self(
        .forbidden, code: .requestLoop, category: .policy,
        message: "Request loop: the source leads back to this service (CDN-Loop).")
    package static let uploadsOff = Self(
        .forbidden, code: .uploadsOff, category: .policy, message: "The service accepts no uploaded images; name a URL."
    )
    package static let originNotWritable = Self(
        .forbidden, code: .originNotWritable, category: .policy,
        message: "No writable origin has this name (write: true).")

    /// - Parameter rule: The setting that forbids the host, and the reason.
    package static func callbackNotAllowed(_ rule: String) -> Self {
        Self(
            .forbidden, code: .callbackNotAllowed, category: .policy,
            message: "The callback URL is not allowed: \(rule).")
    }

    package static let noSuchRoute = Self(
        .notFound, code: .noSuchRoute, category: .request, message: "Nothing is served at this path.")
    package static let noSuchReceipt = Self(
        .notFound, code: .noSuchReceipt, category: .request, message: "No request has this receipt.")
    package static let noSuchJob = Self(
        .notFound, code: .noSuchJob, category: .request, message: "The job does not exist, or has expired.")
    package static let methodNotAllowed = Self(
        .methodNotAllowed, code: .methodNotAllowed, category: .request,
        message: "The method is not allowed for this path; see Allow.")
    package static let requestTimeout = Self(
        .requestTimeout, code: .requestTimeout, category: .request,
        message: "The request header did not arrive in time.")
    package static let bodyTimeout = Self(
        .requestTimeout, code: .requestTimeout, category: .request,
        message: "The request body did not arrive in time, or arrived at less than 1 kB/s.")
    package static let lengthRequired = Self(
        .lengthRequired, code: .lengthRequired, category: .request,
        message: "Content-Length or chunked encoding is required.")
    package static let bodyTooLarge = Self(
        .contentTooLarge, code: .requestTooLarge, category: .request, message: "The body is too large.")
    package static let sourceTooLarge = Self(
        .contentTooLarge, code: .sourceTooLarge, category: .request, message: "The image exceeds the size limit.")
    /// The response exceeds the limit for bodies that must be complete before they are sent.
    package static let responseTooLarge = Self(
        .contentTooLarge, code: .tooLarge, category: .request,
        message: "The images are too large for a JSON response; accept multipart/mixed or application/x-tar.")
    package static let targetTooLong = Self(
        .uriTooLong, code: .uriTooLong, category: .request, message: "The request target is too long.")

    package static func notAnImageType(_ type: String) -> Self {
        Self(
            .unsupportedMediaType, code: .notAnImage, category: .request,
            message:
                "Content-Type \(type.prefix(64)) is not an image type; send image/*, application/octet-stream or multipart/form-data."
        )
    }

    package static let unsupportedMediaType = Self(
        .unsupportedMediaType, code: .notJSON, category: .request,
        message: "The body must be sent with Content-Type: application/json, or as multipart/form-data with an image.")
    package static let nothingMade = Self(
        .unprocessableContent, code: .nothingMade, category: .request,
        message: "All renditions failed with different errors.")
    package static let fieldsTooLarge = Self(
        .requestHeaderFieldsTooLarge, code: .headersTooLarge, category: .request,
        message: "The request header is too large.")
    package static let clientGone = Self(
        .clientClosedRequest, code: .clientClosed, category: .canceled,
        message: "The client has closed its connection.")
    package static let draining = Self(
        .serviceUnavailable, code: .draining, category: .overload, message: "The service is shutting down; try again.")
    /// A trusted proxy has too many pending requests of one client.
    package static let tooManyPerClient = Self(
        .serviceUnavailable, code: .overloaded, category: .request,
        message: "This client has too many pending requests; try again later.")
    package static let tooManyReaders = Self(
        .serviceUnavailable, code: .overloaded, category: .overload, message: "Too many event streams; try again later."
    )
    package static let deadlineExceeded = Self(
        .gatewayTimeout, code: .deadlineExceeded, category: .timeout,
        message: "The request timed out before the thumbnail was rendered.")
    package static let versionNotSupported = Self(
        .httpVersionNotSupported, code: .versionNotSupported, category: .request, message: "Only HTTP/1.1 is supported."
    )

    package static func unexpected(_ detail: String) -> Self {
        Self(.internalServerError, code: .internal, category: .internal, message: "Internal error.", detail: detail)
    }

    private static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }
}

extension APIError {
    package static func unknown(_ name: String, among names: [String]) -> Self {
        .unknownParameter(String(name.prefix(longestQuotedName)), nearest: NearestName.of(name, among: names))
    }

    package var isAboutName: Bool { response.code == .unknownParameter }

    package static let longestQuotedName = 64
}

extension HTTPRejection {
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
