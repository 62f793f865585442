import Text

/// The value has no surrounding whitespace (RFC 9110 section 5).
package struct HTTPField: Hashable, Sendable {
    package var name: Name
    /// Bytes beyond ASCII become the scalars of the same number (ISO 8859-1).
    package var value: String

    package init(name: Name, value: String) {
        self.name = name
        self.value = value
    }

    /// Compared case-insensitively, written as created.
    package struct Name: Hashable, Sendable, CustomStringConvertible {
        package let rawName: String

        package init?(_ name: String) {
            guard !name.isEmpty, name.utf8.allSatisfy(HTTPSyntax.isToken) else { return nil }
            self.init(unchecked: name)
        }

        private init(unchecked name: String) { rawName = name }

        package static func == (left: Name, right: Name) -> Bool {
            let left = left.rawName
            let right = right.rawName
            guard left.utf8.count == right.utf8.count else { return false }
            return left == right || zip(left.utf8, right.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
        }

        /// In lowercase.
        package func hash(into hasher: inout Hasher) {
            for byte in rawName.utf8 { hasher.combine(byte.asciiLowercased) }
        }

        package var description: String { rawName }
    }
}

extension HTTPField.Name {
    /// Accepted media types (RFC 9110 section 12.5).
    package static let accept = Self(unchecked: "Accept")
    package static let apiKey = Self(unchecked: "API-Key")
    package static let acceptEncoding = Self(unchecked: "Accept-Encoding")

    /// The requested server, the client program, and its credentials (RFC 9110 sections 7.2, 10.1.5, 11.6.2).
    package static let acceptCH = Self(unchecked: "Accept-CH")
    package static let criticalCH = Self(unchecked: "Critical-CH")
    package static let secCHWidth = Self(unchecked: "Sec-CH-Width")
    package static let width = Self(unchecked: "Width")
    package static let secCHDPR = Self(unchecked: "Sec-CH-DPR")
    package static let dpr = Self(unchecked: "DPR")
    package static let saveData = Self(unchecked: "Save-Data")
    package static let host = Self(unchecked: "Host")
    package static let userAgent = Self(unchecked: "User-Agent")
    package static let authorization = Self(unchecked: "Authorization")
    package static let cookie = Self(unchecked: "Cookie")
    package static let wwwAuthenticate = Self(unchecked: "WWW-Authenticate")

    /// Conditional requests (RFC 9110 section 13.1).
    package static let lastEventID = Self(unchecked: "Last-Event-ID")
    package static let ifModifiedSince = Self(unchecked: "If-Modified-Since")
    package static let ifNoneMatch = Self(unchecked: "If-None-Match")
    package static let ifRange = Self(unchecked: "If-Range")

    /// Range requests (RFC 9110 section 14).
    package static let range = Self(unchecked: "Range")
    package static let acceptRanges = Self(unchecked: "Accept-Ranges")
    package static let contentRange = Self(unchecked: "Content-Range")
    package static let contentType = Self(unchecked: "Content-Type")
    package static let contentEncoding = Self(unchecked: "Content-Encoding")
    package static let contentLength = Self(unchecked: "Content-Length")
    package static let contentDisposition = Self(unchecked: "Content-Disposition")

    /// The digest of a body (RFC 9530 section 2).
    package static let contentDigest = Self(unchecked: "Content-Digest")

    package static let eTag = Self(unchecked: "ETag")
    package static let lastModified = Self(unchecked: "Last-Modified")

    /// The time of a response, and the client's options afterward (RFC 9110 sections 6.6.1 and 10.2).
    package static let date = Self(unchecked: "Date")
    package static let allow = Self(unchecked: "Allow")
    package static let location = Self(unchecked: "Location")
    package static let retryAfter = Self(unchecked: "Retry-After")
    /// draft-ietf-httpapi-ratelimit-headers-10.
    package static let rateLimit = Self(unchecked: "RateLimit")
    package static let rateLimitPolicy = Self(unchecked: "RateLimit-Policy")

    /// The freshness of a response (RFC 9111 section 5), the request fields that selected it (RFC 9110 section 12.5.5),
    /// and the handling by caches (RFC 9211).
    package static let age = Self(unchecked: "Age")
    package static let cacheControl = Self(unchecked: "Cache-Control")
    package static let expires = Self(unchecked: "Expires")
    package static let pragma = Self(unchecked: "Pragma")
    package static let vary = Self(unchecked: "Vary")
    package static let cacheStatus = Self(unchecked: "Cache-Status")

    /// The connection (RFC 9110 section 7.6.1), and the chunked coding of a body (RFC 9112 section 6.1).
    package static let connection = Self(unchecked: "Connection")
    package static let transferEncoding = Self(unchecked: "Transfer-Encoding")
    package static let accessControlAllowOrigin = Self(unchecked: "Access-Control-Allow-Origin")
    package static let accessControlAllowMethods = Self(unchecked: "Access-Control-Allow-Methods")
    package static let accessControlAllowHeaders = Self(unchecked: "Access-Control-Allow-Headers")
    package static let accessControlExposeHeaders = Self(unchecked: "Access-Control-Expose-Headers")
    package static let accessControlMaxAge = Self(unchecked: "Access-Control-Max-Age")
    package static let crossOriginResourcePolicy = Self(unchecked: "Cross-Origin-Resource-Policy")
    package static let origin = Self(unchecked: "Origin")
    package static let secFetchSite = Self(unchecked: "Sec-Fetch-Site")
    package static let contentSecurityPolicy = Self(unchecked: "Content-Security-Policy")
    package static let xContentTypeOptions = Self(unchecked: "X-Content-Type-Options")
    package static let serverTiming = Self(unchecked: "Server-Timing")
    package static let xRequestID = Self(unchecked: "X-Request-Id")

    /// The clients and proxies behind a request, and its trace context (W3C Trace Context section 3.2).
    package static let xForwardedFor = Self(unchecked: "X-Forwarded-For")
    package static let traceparent = Self(unchecked: "traceparent")

    /// The services that a request has passed through (RFC 8586).
    package static let cdnLoop = Self(unchecked: "CDN-Loop")

    /// Signed requests to S3 (AWS Signature Version 4).
    package static let xAmzDate = Self(unchecked: "x-amz-date")
    package static let xAmzContentSHA256 = Self(unchecked: "x-amz-content-sha256")
    package static let xAmzSecurityToken = Self(unchecked: "x-amz-security-token")
    package static let metadataToken = Self(unchecked: "X-aws-ec2-metadata-token")
    package static let metadataTokenLifetime = Self(unchecked: "X-aws-ec2-metadata-token-ttl-seconds")

    /// Alula's own fields.
    package static let imageWidth = Self(unchecked: "Image-Width")
    package static let imageHeight = Self(unchecked: "Image-Height")
    package static let alulaSignature = Self(unchecked: "Alula-Signature")
    package static let alulaError = Self(unchecked: "Alula-Error")
    package static let alulaIncomplete = Self(unchecked: "Alula-Incomplete")
    package static let alulaHDR = Self(unchecked: "Alula-HDR")
    package static let alulaQuality = Self(unchecked: "Alula-Quality")
    package static let alulaReceipt = Self(unchecked: "Alula-Receipt")
    package static let alulaCost = Self(unchecked: "Alula-Cost")

    package static let ownResponseFields = [
        alulaError, alulaIncomplete, alulaHDR, alulaQuality, alulaReceipt, alulaCost,
    ]
}
