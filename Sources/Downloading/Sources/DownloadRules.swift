import HTTPTypes
package import Text

/// One version of the settings for downloads.
///
/// A source keeps the rules of its request, so that a reload never mixes two versions.
package final class DownloadRules: Sendable {
    /// Set if the tenant does not share sources with others.
    package let tenant: ExactText?
    private let shared: SharedConfiguration
    package let unnamed: OriginRules
    private let named: [ExactText: OriginRules]
    private let version: Int
    /// The rules of tenants with their own rules.
    private let tenants: [ExactText: DownloadRules]

    /// The configuration; it lists all origins even if these rules show a tenant only some.
    package var configuration: DownloadConfiguration { shared.configuration }

    private final class SharedConfiguration: Sendable {
        let configuration: DownloadConfiguration

        init(_ configuration: DownloadConfiguration) { self.configuration = configuration }
    }

    /// - Parameters:
    ///   - earlier: The previous rules; unchanged origins keep their rules and connections.
    ///   - tenants: Each configuration with a tenant gets separate rules.
    package init(
        _ configuration: DownloadConfiguration, after earlier: DownloadRules? = nil,
        tenants: [DownloadConfiguration] = []
    ) {
        shared = SharedConfiguration(configuration)
        tenant = configuration.tenant
        self.tenants = Dictionary(
            tenants.compactMap { configuration in
                configuration.tenant.map { ($0, DownloadRules(configuration, after: earlier?.tenants[$0])) }
            }, uniquingKeysWith: { $1 })
        let version = (earlier?.version ?? -1) + 1
        self.version = version
        let unnamed = OriginRules(nil, configuration: configuration, after: earlier?.unnamed, version: version).reusing(
            earlier?.unnamed)
        self.unnamed = unnamed
        named = Dictionary(
            uniqueKeysWithValues: configuration.origins.all.map { origin in
                let name = ExactText(origin.name)
                let before = earlier?.named[name]
                let rules = OriginRules(
                    origin, configuration: configuration, unnamed: unnamed, after: before, version: version)
                return (name, rules.reusing(before))
            })
    }

    /// The same rules for a tenant that sees only these origins; small, because there may be thousands.
    private init(_ other: DownloadRules, of tenant: ExactText?, showing origins: Origins) {
        shared = other.shared
        unnamed = other.unnamed
        version = other.version
        tenants = [:]
        self.tenant = tenant
        let isVisible = { (name: ExactText) in origins[name.string] != nil }
        named = other.named.keys.allSatisfy(isVisible) ? other.named : other.named.filter { isVisible($0.key) }
    }

    /// The rules for a tenant with this configuration.
    package func narrowed(to configuration: DownloadConfiguration) -> DownloadRules {
        configuration.tenant.flatMap { tenants[$0] }
            ?? DownloadRules(self, of: configuration.tenant, showing: configuration.origins)
    }

    /// Returns the identities of the same source under the rules of tenants.
    package func tenantIdentities(of identity: SourceIdentity) -> [SourceIdentity] {
        identity.isUpload ? [] : tenants.values.compactMap { try? $0.identity(of: ExactText(identity.name)) }
    }

    package subscript(name: String?) -> OriginRules? { name.flatMap { named[ExactText($0)] } }

    package var all: [OriginRules] { configuration.origins.all.compactMap { self[$0.name] } }

    /// Parses a client's name of a source: `NAME:PATH` of a named origin, or an absolute URL.
    package func identity(of source: ExactText) throws(SourceURLError) -> SourceIdentity {
        let name = source.string.prefix(before: UInt8(ascii: ":"))
        if let reference = source.string.suffix(after: UInt8(ascii: ":")), let rules = named[ExactText(name)] {
            return try rules.identity(of: reference).owned(by: tenant)
        }
        return SourceIdentity(url: try SourceURL(parsing: source.string), rules: unnamed).owned(by: tenant)
    }

    /// Whether the rules allow the URL; does not resolve the host, whose addresses are checked at connect time.
    package func mayFetch(_ url: ExactText) -> Bool {
        guard let url = try? SourceURL(parsing: url.string) else { return false }
        return configuration.mayFetch(url)
    }

    /// Whether the operator allows this host by name, and not only every host.
    package func isAllowedByName(_ url: ExactText) -> Bool {
        guard let url = try? SourceURL(parsing: url.string) else { return false }
        return configuration.allowedSources.contains { $0.namesHost && $0.matches(url) }
    }
}
