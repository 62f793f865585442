package import Dialects
package import Text
package import ThumbnailPipeline

/// Finds the tenant of a request: by the key that signs it, otherwise by its host, otherwise the default.
///
/// The directory only reads the name of a native key; the tenant's routes verify the signature. The result depends only
/// on the target, `API-Key` and the host.
package struct TenantDirectory: Sendable {
    package struct Entry: Sendable {
        let account: TenantAccount
        let hosts: [ExactText]
        let keys: [SigningKeys.Key]
        /// Whether the tenant has keys for other dialects.
        let hasOtherKeys: Bool
        let configuration: @Sendable () -> APIConfiguration

        package init(
            _ account: TenantAccount, hosts: [ExactText], keys: [SigningKeys.Key], hasOtherKeys: Bool,
            configuration: @escaping @Sendable () -> APIConfiguration
        ) {
            self.account = account
            self.hosts = hosts
            self.keys = keys
            self.hasOtherKeys = hasOtherKeys
            self.configuration = configuration
        }
    }

    package struct Claim: Equatable, Sendable {
        /// The index of the tenant's entry.
        package let tenant: Int
        /// The tenant of the host, which applies if the key is not valid.
        package let host: Int
    }

    private let hosts: [ExactText: Int]
    private let keys: [ExactText: (tenant: Int, bytes: [UInt8])]
    /// The key, if all tenants together have only one; targets need not name it.
    private let onlyKey: (tenant: Int, key: SigningKeys.Key)?
    private let standard: [any Dialect]
    private let keyed: [ExactText: [(tenant: Int, dialect: any Dialect)]]

    /// - Parameter tenants: The tenants, at least one; the first is the default.
    package init(_ tenants: [Entry]) {
        var hosts = [ExactText: Int]()
        var keys = [ExactText: (tenant: Int, bytes: [UInt8])]()
        var keyed: [ExactText: [(tenant: Int, dialect: any Dialect)]] = [:]
        for (index, entry) in tenants.enumerated() {
            for host in entry.hosts { hosts[host] = index }
            for key in entry.keys { keys[key.id] = (index, key.bytes) }
            guard index > 0, entry.hasOtherKeys else { continue }
            for dialect in entry.configuration().otherDialects where dialect.signatures != .none {
                keyed[ExactText(dialect.name), default: []].append((index, dialect))
            }
        }
        self.hosts = hosts
        self.keys = keys
        self.keyed = keyed
        let first = tenants[0].configuration()
        let named = tenants.enumerated().flatMap { index, entry in entry.keys.map { (tenant: index, key: $0) } }
        onlyKey = named.count == 1 && first.signingKeys.isEmpty ? named[0] : nil
        standard = first.dialects
    }

    /// Returns the tenants that the request may belong to.
    ///
    /// - Parameter hasBodySignature: Whether a field of the request signs its body.
    package func claim(of target: RequestedTarget, host: String?, hasBodySignature: Bool = false) -> Claim {
        let host = host.flatMap { RequestHost.name(of: $0) }.flatMap { hosts[$0] } ?? 0
        return Claim(tenant: tenant(of: target, hasBodySignature: hasBodySignature, at: host), host: host)
    }

    /// Whether the target names a key that did not sign it.
    func isForged(_ target: String) -> Bool {
        guard let id = SigningKeys.keyID(in: target), let key = keys[id] else { return false }
        return !URLSigner.verify(target: target, keys: [key.bytes])
    }

    private func tenant(of target: RequestedTarget, hasBodySignature: Bool, at host: Int) -> Int {
        let text = target.target.string
        let route = Route(nativeTarget: text)
        let dialect = route.owner(of: text, among: standard) { $0 }
        if case .client(.renditions) = route, dialect == nil {
            return native(text, hasBodySignature: hasBodySignature, at: host)
        }
        guard let dialect else { return host }
        guard dialect.unsignedName != NativeDialect.unsignedName else {
            return native(text, hasBodySignature: hasBodySignature, at: host)
        }
        guard host == 0, let keyed = keyed[ExactText(dialect.name)], dialect.keyID(of: target) == nil else {
            return host
        }
        return keyed.first { $0.dialect.keyID(of: target) != nil }?.tenant ?? host
    }

    private func native(_ target: String, hasBodySignature: Bool, at host: Int) -> Int {
        if let id = SigningKeys.keyID(in: target) { return keys[id]?.tenant ?? host }
        guard host == 0, let onlyKey else { return host }
        return hasBodySignature || URLSigner.verify(target: target, keys: [onlyKey.key.bytes]) ? onlyKey.tenant : host
    }
}
