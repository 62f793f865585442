package import Downloading
package import Settings
import Text
package import ThumbnailAPI
package import ThumbnailPipeline

/// The tenants of one version of the settings.
struct ServiceTenants: Sendable {
    private let settings: Settings
    private let rules: DownloadRules
    private let tenants: [TenantSettings]

    init(_ settings: Settings, _ rules: DownloadRules) {
        (self.settings, self.rules) = (settings, rules)
        tenants = settings.allTenants
    }

    var places: [TenantPlace] {
        tenants.map { [settings] tenant in
            TenantPlace(
                ExactText(tenant.name), hosts: tenant.hosts, keys: tenant.nativeKeys,
                hasOtherKeys: tenant.hasOtherKeys
            ) { settings.narrowed(to: tenant).api }
        }
    }

    /// - Parameter tenant: The index of its place.
    func view(_ tenant: Int) -> (settings: Settings, rules: DownloadRules) {
        let narrowed = settings.narrowed(to: tenants[tenant])
        return (narrowed, rules.narrowed(to: narrowed.downloads))
    }
}

extension TargetExplainer {
    /// - Parameter pipeline: With the formats that may be decoded.
    package init(_ settings: Settings, _ pipeline: PipelineConfiguration, _ rules: DownloadRules) {
        let tenants = ServiceTenants(settings, rules)
        let places = tenants.places
        guard !places.isEmpty else {
            self.init(settings.api, pipeline, rules)
            return
        }
        let directory = TenantDirectory(places)
        self.init(settings.api, pipeline, rules) { target, host in
            let (settings, rules) = tenants.view(directory.claim(of: target, host: host).tenant)
            return TargetExplainer(settings.api, pipeline, rules)
        }
    }
}
