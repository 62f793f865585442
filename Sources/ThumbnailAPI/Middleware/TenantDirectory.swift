package import Dialects
package import Text
package import ThumbnailPipeline

/// A tenant as requests find it.
package struct TenantPlace: Sendable {
    let account: TenantAccount
    let hosts: [ExactText]
    let keys: [SigningKeys.Key]
    /// Has keys for other dialects.
    let hasOtherKeys: Bool
    let configuration: @Sendable () -> APIConfiguration

    package init(
        _ account: TenantAccount, hosts: [ExactText], keys: [SigningKeys.Key], hasOtherKeys: Bool,
        configuration: @escaping @Sendable () -> APIConfiguration
    ) {
        (self.account, self.hosts, self.keys) = (account, hosts, keys)
        (self.hasOtherKeys, self.configuration) = (hasOtherKeys, configuration)
    }
}

/// Finds the tenant of a request: by the key that signs it, else by its host, else the default.
///
/// A native request names its key, which the tenant's own routes verify, and remember; so the directory verifies
/// nothing for it. Its answer must depend only on the target, `API-Key` and the host.
package struct TenantDirectory: Sendable {
    package struct Claim: Equatable, Sendable {
        /// An index.
        package let tenant: Int
        /// The tenant that a request without a valid key belongs to.
        package let host: Int
    }

    private let hosts: [ExactText: Int]
    private let keys: [ExactText: (tenant: Int, bytes: [UInt8])]
    /// Needs no name in the target.
    private let onlyKey: (tenant: Int, key: SigningKeys.Key)?
    private let standard: [any Dialect]
    private let keyed: [ExactText: [(tenant: Int, dialect: any Dialect)]]

    /// - Parameter places: Of at least one tenant; the first is the default.
    package init(_ places: [TenantPlace]) {
        var (hosts, keys) = ([ExactText: Int](), [ExactText: (tenant: Int, bytes: [UInt8])]())
        var keyed: [ExactText: [(tenant: Int, dialect: any Dialect)]] = [:]
        for (index, place) in places.enumerated() {
            for host in place.hosts { hosts[host] = index }
            for key in place.keys { keys[key.id] = (index, key.bytes) }
            guard index > 0, place.hasOtherKeys else { continue }
            for dialect in place.configuration().otherDialects where dialect.signatures != .none {
                keyed[ExactText(dialect.name), default: []].append((index, dialect))
            }
        }
        (self.hosts, self.keys, self.keyed) = (hosts, keys, keyed)
        let first = places[0].configuration()
        let named = places.enumerated().flatMap { index, place in place.keys.map { (tenant: index, key: $0) } }
        onlyKey = named.count == 1 && first.signingKeys.isEmpty ? named[0] : nil
        standard = first.dialects
    }

    /// - Parameter hasBodySignature: It has a field that signs its body.
    package func claim(of target: RequestedTarget, host: String?, hasBodySignature: Bool = false) -> Claim {
        let host = host.flatMap { RequestHost.name(of: $0) }.flatMap { hosts[$0] } ?? 0
        return Claim(tenant: tenant(of: target, hasBodySignature, at: host), host: host)
    }

    /// Whether the key that a target names has not signed it.
    func isForged(_ target: String) -> Bool {
        guard let id = SigningKeys.keyID(in: target), let key = keys[id] else { return false }
        return !URLSigner.verify(target: target, keys: [key.bytes])
    }

    private func tenant(of target: RequestedTarget, _ hasBodySignature: Bool, at host: Int) -> Int {
        let text = target.target.string
        let route = Route(nativeTarget: text)
        let dialect = route.owner(of: text, among: standard) { $0 }
        if case .client(.renditions) = route, dialect == nil { return native(text, hasBodySignature, at: host) }
        guard let dialect else { return host }
        guard dialect.unsignedName != NativeDialect.unsignedName else {
            return native(text, hasBodySignature, at: host)
        }
        guard host == 0, let keyed = keyed[ExactText(dialect.name)], dialect.keyID(of: target) == nil else {
            return host
        }
        return keyed.first { $0.dialect.keyID(of: target) != nil }?.tenant ?? host
    }

    private func native(_ target: String, _ hasBodySignature: Bool, at host: Int) -> Int {
        if let id = SigningKeys.keyID(in: target) { return keys[id]?.tenant ?? host }
        guard host == 0, let onlyKey else { return host }
        return hasBodySignature || URLSigner.verify(target: target, keys: [onlyKey.key.bytes]) ? onlyKey.tenant : host
    }
}
