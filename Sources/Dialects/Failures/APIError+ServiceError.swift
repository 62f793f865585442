package import HTTPTypes
package import ThumbnailTypes

extension APIError: ServiceError {
    package var status: HTTPResponse.Status {
        switch self {
        case .missingParameter, .unknownParameter, .repeatedParameter, .badParameter, .badChoice, .sizeNotAllowed,
            .unsupportedOption, .badURL, .badRequest, .badBody:
            .badRequest
        // As a failure of the origin, a 5xx status would count against the service's own address.
        case .badKey: .unauthorized
        case .badSignature, .expired, .crossSite, .uploadsOff, .requestLoop, .callbackNotAllowed, .originNotWritable,
            .tagsNotAllowed:
            .forbidden
        case .noSuchRoute, .noSuchReceipt, .noSuchJob: .notFound
        case .lengthRequired: .lengthRequired
        case .bodyTooLarge, .sourceTooLarge, .answerTooLarge: .contentTooLarge
        case .unsupportedMediaType, .notAnImageType: .unsupportedMediaType
        case .methodNotAllowed: .methodNotAllowed
        case .nothingMade: .unprocessableContent
        case .requestTimeout, .bodyTimeout: .requestTimeout
        case .versionNotSupported: .httpVersionNotSupported
        case .targetTooLong: .uriTooLong
        case .fieldsTooLarge: .requestHeaderFieldsTooLarge
        case .tooManyOfClient, .draining, .tooManyReaders: .serviceUnavailable
        case .clientGone: .clientClosedRequest
        case .deadlineExceeded: .gatewayTimeout
        case .unexpected: .internalServerError
        }
    }

    package var code: String {
        switch self {
        case .missingParameter: "missing_parameter"
        case .unknownParameter: "unknown_parameter"
        case .badParameter, .badChoice, .repeatedParameter: "bad_parameter"
        case .sizeNotAllowed: "size_not_allowed"
        case .tagsNotAllowed: "tag_not_allowed"
        case .unsupportedOption: "unsupported_option"
        case .badURL: "bad_url"
        case .badSignature: "bad_signature"
        case .badKey: "bad_key"
        case .expired: "expired"
        case .crossSite: "cross_site"
        case .requestLoop: "request_loop"
        case .noSuchRoute: "no_such_route"
        case .methodNotAllowed: "method_not_allowed"
        case .badRequest: "bad_request"
        case .requestTimeout, .bodyTimeout: "request_timeout"
        case .versionNotSupported: "version_not_supported"
        case .targetTooLong: "uri_too_long"
        case .fieldsTooLarge: "headers_too_large"
        case .tooManyOfClient: "overloaded"
        case .draining: "draining"
        case .clientGone: "client_closed"
        case .deadlineExceeded: "deadline_exceeded"
        case .noSuchReceipt: "no_such_receipt"
        case .callbackNotAllowed: "callback_not_allowed"
        case .originNotWritable: "origin_not_writable"
        case .noSuchJob: "no_such_job"
        case .tooManyReaders: "overloaded"
        case .lengthRequired: "length_required"
        case .bodyTooLarge: "request_too_large"
        case .sourceTooLarge: "source_too_large"
        case .uploadsOff: "uploads_off"
        case .nothingMade: "nothing_made"
        case .answerTooLarge: "too_large"
        case .notAnImageType: "not_an_image"
        case .unsupportedMediaType: "not_json"
        case .badBody: "bad_body"
        case .unexpected: "internal"
        }
    }

    package var publicMessage: String {
        switch self {
        case .missingParameter: "A required parameter is missing."
        case .unknownParameter(_, let nearest):
            nearest.map { "There is no such parameter; did you mean \($0)?" } ?? "There is no such parameter."
        case .repeatedParameter: "The parameter is given twice, by itself or by its other name."
        case .badChoice(_, let allowed): "Must be \(Self.alternatives(allowed))."
        case .sizeNotAllowed(let name, let allowed):
            "Unsigned requests may ask for \(Self.alternatives(allowed.map(String.init)))"
                + (name == "q" ? "." : " pixels, device pixel ratios counted.")
        case .badParameter(_, let reason), .unsupportedOption(_, let reason), .badURL(let reason),
            .badBody(_, let reason), .crossSite(let reason, _):
            reason
        case .tagsNotAllowed: "Only signed requests may name tags here."
        case .badSignature: "The request is not signed, or its signature is not valid."
        case .badKey: "The request has no key, or a wrong one."
        case .expired: "The URL has expired."
        case .requestLoop: "The source leads back to this service, which asked for it (CDN-Loop; the setting cdnLoop)."
        case .noSuchRoute: "Nothing is served at this path."
        case .methodNotAllowed: "The path does not know this method; see the Allow field."
        case .badRequest: "The request is not valid HTTP/1.1, or has a body that the path does not take."
        case .requestTimeout: "The request's header did not arrive in time."
        case .bodyTimeout: "The request's body did not arrive in time, or came at less than 1 kB a second."
        case .versionNotSupported: "The service speaks HTTP/1.1."
        case .targetTooLong: "The request target is too long."
        case .fieldsTooLarge: "The header fields are too many or too long."
        case .tooManyOfClient: "Too many requests of this client are under way; ask again."
        case .draining: "The service is about to stop; ask again."
        case .clientGone: "The client has closed its connection."
        case .deadlineExceeded: "The thumbnail could not be made in the time that a request may take."
        case .lengthRequired: "The body's length must be announced by Content-Length, or the body sent in chunks."
        case .bodyTooLarge: "The body is too long."
        case .sourceTooLarge: "The image is larger than the service takes."
        case .uploadsOff: "The service takes no images from clients; name a URL."
        case .nothingMade: "None of the renditions could be made; each has a problem of its own."
        case .answerTooLarge:
            "The images are more than an answer in JSON may hold; accept multipart/mixed or application/x-tar."
        case .notAnImageType(let type):
            "Content-Type \(type.prefix(64)) is none of an image: send image/…, application/octet-stream or multipart/form-data."
        case .unsupportedMediaType:
            "The body must be sent with Content-Type: application/json, or as multipart/form-data with an image."
        case .originNotWritable: "There is no named origin of this name that takes results (write: true)."
        case .callbackNotAllowed(let rule): "The callback is not called: \(rule)."
        case .noSuchJob: "There is no such job, or it ended long ago."
        case .tooManyReaders: "As many clients read events as there may be; try again later."
        case .noSuchReceipt: "No caller waits under this receipt."
        case .unexpected: "Something went wrong inside the service."
        }
    }

    package var logDetail: String? {
        switch self {
        case .unexpected(let detail), .crossSite(_, let detail): detail
        default: nil
        }
    }

    package var category: ErrorCategory {
        switch self {
        case .badSignature, .badKey, .expired, .crossSite, .uploadsOff, .requestLoop, .callbackNotAllowed,
            .originNotWritable, .tagsNotAllowed:
            .policy
        case .draining, .tooManyReaders: .overload
        case .clientGone: .cancelled
        case .deadlineExceeded: .timeout
        case .unexpected: .internal
        default: .request
        }
    }

    /// The name of the invalid parameter; nil if there is none.
    package var parameter: String? {
        switch self {
        case .missingParameter(let name), .unknownParameter(let name, _), .repeatedParameter(let name),
            .badParameter(let name, _), .badChoice(let name, _), .sizeNotAllowed(let name, _),
            .unsupportedOption(let name, _):
            name
        case .badBody(let place, _): place.isEmpty ? nil : place
        case .badURL: "url"
        case .tagsNotAllowed: "tag"
        default: nil
        }
    }

    package var allowed: [String] {
        switch self {
        case .badChoice(_, let allowed): allowed
        case .sizeNotAllowed(_, let allowed): allowed.map(String.init)
        default: []
        }
    }

    package var nearest: String? {
        if case .unknownParameter(_, let nearest) = self { nearest } else { nil }
    }

    /// Joins alternatives, such as `h, v or hv`.
    private static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }

    /// Seconds after which another process may serve the same request.
    package var retryAfter: Int? { status == .serviceUnavailable ? 1 : nil }
}
