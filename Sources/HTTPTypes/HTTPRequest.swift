package import Memory

/// One request as it arrived.
///
/// If its route takes no body, a request with a body is refused before it becomes a value.
package struct HTTPRequest: Sendable {
    package var method: Method
    /// The request target exactly as received: origin form, still percent-encoded.
    package var target: String
    /// The header fields in the order of arrival.
    package var headerFields: HTTPFields
    /// The body, complete; nil for a request without one, or with an empty one.
    package var body: SharedBytes?
    /// The other end of the connection; nil if it is not known.
    package var peer: PeerAddress?

    /// A request of `method` for `target`.
    package init(method: Method = .get, target: String, headerFields: HTTPFields = [:], body: SharedBytes? = nil) {
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
    }

    /// Whether there is a body, which may be empty: the header announces one (RFC 9112 section 6.3), or it is here.
    package var hasBody: Bool {
        body != nil || headerFields.contains(.contentLength) || headerFields.contains(.transferEncoding)
    }

    /// A request method, case-sensitive (RFC 9110 section 9.1).
    package struct Method: Hashable, Sendable, RawRepresentable {
        /// The method as on the wire.
        package let rawValue: String

        /// A method of any name.
        package init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The methods that the service answers (RFC 9110 section 9.3).
        package static let get = Self(rawValue: "GET")
        package static let head = Self(rawValue: "HEAD")
        package static let post = Self(rawValue: "POST")
        package static let delete = Self(rawValue: "DELETE")
        package static let options = Self(rawValue: "OPTIONS")
    }
}

/// The address of the other end of a connection, in IPv6's form (RFC 4291 section 2.5.5.2): its halves in host byte
/// order.
package struct PeerAddress: Hashable, Sendable {
    /// The network half; zero for IPv4.
    package let high: UInt64
    /// The interface half; an IPv4 address behind `ffff`.
    package let low: UInt64

    /// The address with these halves.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// The listed fields, in their order.
    package init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init(elements.map { HTTPField(name: $0.0, value: $0.1) })
    }
}
