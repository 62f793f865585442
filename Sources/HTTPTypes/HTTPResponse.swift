package import Memory

package struct HTTPResponse: Sendable {
    package var status: Status
    package var headerFields: HTTPFields
    /// With status 304 and for HEAD only the length is sent.
    package var body: Body

    package init(status: Status, headerFields: HTTPFields = [:], body: Body = .empty) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }

    package enum Body: Sendable {
        case empty
        case text(String)
        /// Sent without a copy.
        case shared(SharedBytes)
        /// Generated while it is sent, in chunks (RFC 9112 section 7.1).
        case streamed(StreamedBody)

        package var count: Int {
            switch self {
            case .empty, .streamed: 0
            case .text(let text): text.utf8.count
            case .shared(let bytes): bytes.count
            }
        }
    }

    /// Three digits (RFC 9110 section 15).
    package struct Status: Hashable, Sendable, CustomStringConvertible {
        package let code: Int

        package init(code: Int) { self.code = code }

        package static let ok = Self(code: 200)
        package static let accepted = Self(code: 202)
        package static let found = Self(code: 302)
        package static let noContent = Self(code: 204)

        /// The client already has the current image (RFC 9110 section 15.4.5).
        package static let notModified = Self(code: 304)

        /// Client errors (RFC 9110 section 15.5; 429, 431: RFC 6585).
        package static let badRequest = Self(code: 400)
        package static let unauthorized = Self(code: 401)
        package static let forbidden = Self(code: 403)
        package static let notFound = Self(code: 404)
        package static let methodNotAllowed = Self(code: 405)
        package static let notAcceptable = Self(code: 406)
        package static let requestTimeout = Self(code: 408)
        package static let conflict = Self(code: 409)
        package static let lengthRequired = Self(code: 411)
        package static let contentTooLarge = Self(code: 413)
        package static let uriTooLong = Self(code: 414)
        package static let unsupportedMediaType = Self(code: 415)
        package static let unprocessableContent = Self(code: 422)
        package static let tooManyRequests = Self(code: 429)
        package static let requestHeaderFieldsTooLarge = Self(code: 431)
        /// An unregistered status that nginx introduced and other software uses too.
        package static let clientClosedRequest = Self(code: 499)

        /// Server and origin errors (RFC 9110 section 15.6).
        package static let internalServerError = Self(code: 500)
        package static let badGateway = Self(code: 502)
        package static let serviceUnavailable = Self(code: 503)
        package static let gatewayTimeout = Self(code: 504)
        package static let httpVersionNotSupported = Self(code: 505)

        package var description: String { String(code) }

        package var reasonPhrase: String? { Self.reasonPhrases[code] }

        private static let reasonPhrases = [
            400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 411: "Length Required",
            413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 422: "Unprocessable Content",
            429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
            502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
        ]
    }
}
