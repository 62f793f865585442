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

/// In IPv6 form (RFC 4291 section 2.5.5.2), as halves in host byte order.
package struct PeerAddress: Hashable, Sendable {
    package let high: UInt64
    /// The interface half; for IPv4, `ffff` and the address.
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// One client: an IPv4 address, or an IPv6 /64, the usual allocation to a household.
package struct ClientNetwork: Hashable, Sendable {
    /// The IPv4 address, or the first half of the IPv6 address; nil for all clients without a known address.
    private let bits: UInt64?

    package init(bits: UInt64?) { self.bits = bits }

    package init(of peer: PeerAddress) {
        bits = peer.high == 0 && peer.low >> 32 == 0xffff ? peer.low & 0xffff_ffff : peer.high
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        self.init(elements.map { HTTPField(name: $0.0, value: $0.1) })
    }
}
