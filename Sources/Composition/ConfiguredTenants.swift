import Coordination
package import Downloading
package import Settings
import Text
package import ThumbnailAPI
package import ThumbnailPipeline

/// The tenants of one version of the settings; a class, because the entries of many tenants refer to the settings.
final class ConfiguredTenants: Sendable {
    private let settings: Settings
    private let rules: DownloadRules
    private let tenants: [TenantSettings]
    let accounts: [TenantAccount]

    /// - Parameter account: Returns a tenant's account, with the limits of these settings.
    init(_ settings: Settings, rules: DownloadRules, account: (TenantSettings) -> TenantAccount) {
        self.settings = settings
        self.rules = rules
        tenants = settings.allTenants
        accounts = tenants.map(account)
    }

    var entries: [TenantDirectory.Entry] {
        tenants.indices.map { index in
            TenantDirectory.Entry(
                accounts[index], hosts: tenants[index].hosts, keys: tenants[index].nativeKeys,
                hasOtherKeys: tenants[index].hasOtherKeys
            ) { self.view(index).settings.api }
        }
    }

    /// - Parameter tenant: The index of the tenant's entry.
    func view(_ tenant: Int) -> (settings: Settings, rules: DownloadRules) {
        let narrowed = settings.narrowed(to: tenants[tenant])
        return (narrowed, rules.narrowed(to: narrowed.downloads))
    }
}

extension TargetExplainer {
    /// - Parameter pipeline: The configuration with the formats that may be decoded.
    package init(_ settings: Settings, pipeline: PipelineConfiguration, rules: DownloadRules) {
        // Explaining charges no costs, so this account is not used.
        let account = TenantAccount("default", timekeeper: SystemTimekeeper())
        let tenants = ConfiguredTenants(settings, rules: rules) { _ in account }
        let entries = tenants.entries
        guard !entries.isEmpty else {
            self.init(settings.api, pipeline: pipeline, rules: rules)
            return
        }
        let directory = TenantDirectory(entries)
        self.init(settings.api, pipeline: pipeline, rules: rules) { target, host in
            let (settings, rules) = tenants.view(directory.claim(of: target, host: host).tenant)
            return TargetExplainer(settings.api, pipeline: pipeline, rules: rules)
        }
    }
}
