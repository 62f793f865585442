package import HTTPTypes
import Memory
package import Text

package final class SourceIdentity: Hashable, Sendable {
    /// The requested URL, before redirects.
    package let url: SourceURL
    /// The settings for its transfers.
    package let rules: OriginRules
    /// The length of the URL prefix that the origin's name replaces.
    private let baseLength: Int
    /// The URL to fetch: `url` with the parameters that the origin ignores; not part of the identity.
    package let target: SourceURL
    package let sharesTargets: Bool
    /// Whether client fields are forwarded, so that each client may get a different image.
    package let isPrivate: Bool
    /// The only tenant that may use the source; nil if all tenants may.
    package let tenant: ExactText?
    private let clients: Clients
    /// The source for a client without forwarded fields; nil if this is it.
    private let base: SourceIdentity?
    /// The source for all clients and tenants; nil if this is it.
    private let broader: SourceIdentity?
    private let hash: Int

    /// The clients that may use the source.
    private enum Clients: Hashable, Sendable {
        /// All clients; the origin receives no client fields.
        case any
        case sending(ClientFields)
        /// All clients, each with its own fields; only for removals.
        case every
    }

    private init(
        url: SourceURL, rules: OriginRules, baseLength: Int, target: SourceURL, sharesTargets: Bool,
        tenant: ExactText? = nil, clients: Clients = .any, base: SourceIdentity? = nil,
        broader: SourceIdentity? = nil, hash: Int
    ) {
        self.url = url
        self.rules = rules
        self.baseLength = baseLength
        self.target = target
        self.sharesTargets = sharesTargets
        isPrivate = rules.forwardsFields
        self.tenant = tenant
        self.clients = clients
        self.base = base
        self.broader = broader
        self.hash = hash
    }

    /// - Parameter baseLength: The length of the URL prefix that the origin's name replaces.
    package convenience init(
        url: SourceURL, rules: OriginRules = .unrestricted, baseLength: Int = 0, target: SourceURL? = nil,
        sharesTargets: Bool = false
    ) {
        var hasher = Hasher()
        hasher.combine(url)
        hasher.combine(rules.origin?.name)
        let hash = hasher.finalize()
        let everyClient =
            rules.forwardsFields
            ? SourceIdentity(
                url: url, rules: rules, baseLength: baseLength, target: url, sharesTargets: true, clients: .every,
                hash: ~hash)
            : nil
        self.init(
            url: url, rules: rules, baseLength: baseLength, target: target ?? url, sharesTargets: sharesTargets,
            broader: everyClient, hash: hash)
    }

    private convenience init(_ base: SourceIdentity, of fields: ClientFields) {
        self.init(
            url: base.url, rules: base.rules, baseLength: base.baseLength, target: base.target,
            sharesTargets: base.sharesTargets, tenant: base.tenant, clients: .sending(fields), base: base,
            hash: base.hash ^ fields.hashValue)
    }

    private convenience init(_ other: SourceIdentity, of tenant: ExactText) {
        self.init(
            url: other.url, rules: other.rules, baseLength: other.baseLength, target: other.target,
            sharesTargets: other.sharesTargets, tenant: tenant, broader: other.broader ?? other,
            hash: other.hash ^ tenant.hashValue)
    }

    /// The named origin; nil for an absolute URL.
    package var originName: String? { rules.origin?.name }

    /// The canonical URL or `NAME:PATH`; parsing it returns the same identity.
    package var name: String {
        guard let originName else { return url.canonical }
        let path = url.canonical.utf8.dropFirst(baseLength)
        let text = String(Substring(path))
        return "\(originName):\(url.isInFolder ? URLEscape.path(ofFile: URLEscape.text(of: text[...])) : text)"
    }

    /// The forwarded client fields; nil for none.
    package var clientFields: ClientFields? { if case .sending(let fields) = clients { fields } else { nil } }

    package var forwardedNames: [HTTPField.Name] { rules.origin?.forwarded.map(\.name) ?? [] }

    /// The source for a client with these fields.
    package func forwarding(_ fields: HTTPFields) throws(ClientFields.TooLong) -> SourceIdentity {
        guard isPrivate, let client = try ClientFields(fields, to: rules.origin?.forwarded ?? []) else {
            return withoutFields
        }
        return SourceIdentity(withoutFields, of: client)
    }

    /// The source for only this tenant; unchanged for nil.
    package func owned(by tenant: ExactText?) -> SourceIdentity { tenant.map { SourceIdentity(self, of: $0) } ?? self }

    /// The source for a client without forwarded fields.
    package var withoutFields: SourceIdentity { base ?? self }

    /// Matches this source for all clients and tenants; removing it removes every copy.
    package var wildcard: SourceIdentity { withoutFields.broader ?? self }

    package func matches(_ other: SourceIdentity) -> Bool { self == other || self == other.wildcard }

    /// An uploaded image; clients cannot name it, and only memory stores it.
    ///
    /// - Parameter name: Lowercase letters and digits, such as a digest.
    package convenience init(uploaded name: String) { self.init(url: SourceURL(uploaded: name)) }

    /// Whether clients or tenants may have separate copies.
    package var hasWildcard: Bool { wildcard !== self }

    package var byteCount: Int {
        320 + (isPrivate || tenant != nil ? 320 + (clientFields?.byteCount ?? 0) : 0) + url.byteCount
            + (target.canonical.utf8.count == url.canonical.utf8.count ? 0 : target.byteCount)
    }

    package var isUpload: Bool { url.isUpload }

    /// The name in logs and events; omits the digest of an upload.
    package var label: String { isUpload ? "upload:" : name }

    package static func == (left: SourceIdentity, right: SourceIdentity) -> Bool {
        left === right
            || (left.hash == right.hash && left.clients == right.clients && left.tenant == right.tenant
                && left.url == right.url
                && left.rules.isSame(as: right.rules))
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// A source and the URL from which it is fetched.
///
/// Targets of one source may differ in an ignored parameter. The bytes of any target serve all of them, but a failure
/// of one does not affect the others.
package struct FetchedTarget: Hashable, Sendable {
    package let identity: SourceIdentity

    package init(_ identity: SourceIdentity) { self.identity = identity }

    package static func == (left: FetchedTarget, right: FetchedTarget) -> Bool {
        left.identity == right.identity && left.identity.target == right.identity.target
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(identity)
        if identity.sharesTargets { hasher.combine(identity.target) }
    }
}
