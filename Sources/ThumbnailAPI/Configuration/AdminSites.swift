import Dialects
package import HTTPTypes
import Telemetry
package import Text

/// The host names of the admin listener, and the sites that may write to it.
///
/// A site can make its own name resolve to this machine (DNS rebinding). The browser of a user who can reach the
/// listener then reads and writes here for pages of that site, and only `Host` reveals it. A request for an IP address
/// is safe, because no site controls its destination. A write needs no rebinding, because browsers send it without a
/// preflight, but they name the site that sent it.
package struct AdminSites: Sendable {
    package enum Objection: Equatable {
        case unknownHost(String)
        /// The site that the browser declares.
        case otherSite(String)
    }

    package static let anyName = "*"

    private let names: Set<[UInt8]>
    private let acceptsAnyName: Bool

    /// Creates the lists; addresses and `localhost` are always accepted, and `*` matches all names.
    package init(names: [String] = []) {
        self.names = Set(([Self.localhost] + names).map { Self.canonical($0.utf8[...]) })
        acceptsAnyName = names.contains { $0.utf8.elementsEqual(Self.anyName.utf8) }
    }

    package static func isName(_ text: String) -> Bool {
        if text.utf8.elementsEqual(anyName.utf8) { return true }
        return !text.isEmpty && text.utf8.count <= 253 && text.utf8.first != UInt8(ascii: ".")
            && text.utf8.allSatisfy { byte in
                switch byte | 0x20 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"): true
                default: (0x2d...0x39).contains(byte) && byte != UInt8(ascii: "/") || byte == UInt8(ascii: "_")
                }
            }
    }

    /// Allows a request without `Host`: it is HTTP/1.0, which no browser sends.
    package func violation(to request: HTTPRequest) -> Objection? {
        let host = request.headerFields[.host]
        if let host, !isKnown(host) { return .unknownHost(host) }
        guard request.method != .get, request.method != .head else { return nil }
        if let site = request.headerFields[.secFetchSite],
            !["same-origin", "none"].contains(where: { site.utf8.elementsEqual($0.utf8) })
        {
            return .otherSite(site)
        }
        if let origin = request.headerFields[.origin], !isSame(origin, as: host) { return .otherSite(origin) }
        return nil
    }

    private func isKnown(_ host: String) -> Bool {
        guard !acceptsAnyName else { return true }
        guard let authority = Authority(host.utf8[...]) else { return false }
        return authority.isAddress || names.contains(Self.canonical(authority.host))
    }

    /// Ignores the scheme, because the listener does not know which one reaches it.
    private func isSame(_ origin: String, as host: String?) -> Bool {
        let defaultPorts = ["http://": 80, "https://": 443]
        guard let scheme = defaultPorts.first(where: { origin.utf8.starts(with: $0.key.utf8) }), let host,
            let theirs = Authority(origin.utf8.dropFirst(scheme.key.utf8.count)), let ours = Authority(host.utf8[...])
        else { return false }
        return Self.canonical(theirs.host) == Self.canonical(ours.host)
            && theirs.port ?? scheme.value == ours.port ?? scheme.value
    }

    private static let localhost = "localhost"

    private static func canonical(_ host: Substring.UTF8View) -> [UInt8] {
        var bytes = host.map { $0.asciiLowercased }
        if bytes.count > 1, bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return bytes
    }
}

private struct Authority {
    let host: Substring.UTF8View
    let port: Int?
    let isAddress: Bool

    init?(_ text: Substring.UTF8View) {
        let end: Substring.UTF8View.Index
        if text.first == UInt8(ascii: "[") {
            guard let closing = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = text.index(after: closing)
            guard let address = IPAddress(String(Substring(text[..<closing].dropFirst()))), address.isV6 else {
                return nil
            }
            isAddress = true
        } else {
            end = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            isAddress = IPAddress(String(Substring(text[..<end]))) != nil
        }
        host = text[..<end]
        let rest = text[end...]
        guard !host.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: ":") else { return nil }
        let digits = rest.dropFirst()
        guard digits.count <= 5, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        port = Int(String(Substring(digits)))
    }
}

package enum RequestHost {
    /// Returns the name in lowercase, without port and trailing point; nil if it is malformed.
    package static func name(of host: String) -> ExactText? {
        guard let authority = Authority(host.utf8[...]) else { return nil }
        var bytes = authority.host.map { $0.asciiLowercased }
        if bytes.count > 1, bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        return ExactText(String(decoding: bytes, as: UTF8.self))
    }
}

extension APIError {
    init(_ violation: AdminSites.Objection) {
        switch violation {
        case .unknownHost(let host):
            self = .crossSite(
                reason: "The admin listener does not serve this host; add it to adminHosts.",
                detail: "host \(SourceLabel.text(host).prefix(255))")
        case .otherSite(let site):
            self = .crossSite(
                reason: "A browser sent this request for another site.",
                detail: "site \(SourceLabel.text(site).prefix(255))")
        }
    }
}
