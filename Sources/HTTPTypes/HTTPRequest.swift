package import Memory

/// A request with a body is rejected earlier if its route accepts none.
package struct HTTPRequest: Sendable {
    package var method: Method
    /// Exactly as received: origin form, percent-encoded.
    package var target: String
    package var headerFields: HTTPFields
    /// Nil for a request without a body or with an empty one.
    package var body: SharedBytes?
    package var peer: PeerAddress?

    package init(method: Method = .get, target: String, headerFields: HTTPFields = [:], body: SharedBytes? = nil) {
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
    }

    /// Possibly empty: announced by the header (RFC 9112 section 6.3), or present.
    package var hasBody: Bool {
        body != nil || headerFields.contains(.contentLength) || headerFields.contains(.transferEncoding)
    }

    /// Case-sensitive (RFC 9110 section 9.1).
    package struct Method: Hashable, Sendable, RawRepresentable {
        package let rawValue: String

        package init(rawValue: String) { self.rawValue = rawValue }

        package static let get = Self(rawValue: "GET")
        package static let head = Self(rawValue: "HEAD")
        package static let post = Self(rawValue: "POST")
        package static let delete = Self(rawValue: "DELETE")
        package static let options = Self(rawValue: "OPTIONS")
    }
}
