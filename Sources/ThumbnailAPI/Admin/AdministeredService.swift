package import JSON
package import Prefetching
package import Telemetry
package import ThumbnailPipeline
package import Webhooks

package struct AdministeredService: Sendable {
    let version: String
    let revision: String
    let instance: String
    let control: any ServiceControlling
    let prefetching: any PrefetchScheduling
    package let lifecycle: ServiceLifecycle
    let events: EventFeed
    let history: StatsHistory
    let slowRequests: SlowRequests
    let calls: @Sendable () -> [Notifier.Statistics]?
    /// Returns the effective values without secrets.
    let settings: @Sendable () -> JSONValue
    let reload: @Sendable () async throws -> SettingsReload
    let tenants: TenantAccounts?
    let metricsText: @Sendable (MetricsFormat) -> String

    package init(
        version: String, revision: String, instance: String, control: any ServiceControlling,
        prefetching: any PrefetchScheduling, lifecycle: ServiceLifecycle, events: EventFeed, history: StatsHistory,
        slowRequests: SlowRequests, calls: @escaping @Sendable () -> [Notifier.Statistics]? = { nil },
        settings: @escaping @Sendable () -> JSONValue = { .array([]) },
        reload: @escaping @Sendable () async throws -> SettingsReload = {
            SettingsReload(changed: [], needingRestart: [])
        },
        tenants: TenantAccounts? = nil, metricsText: @escaping @Sendable (MetricsFormat) -> String
    ) {
        self.version = version
        self.revision = revision
        self.instance = instance
        self.control = control
        self.prefetching = prefetching
        self.lifecycle = lifecycle
        self.slowRequests = slowRequests
        self.events = events
        self.history = history
        self.calls = calls
        self.settings = settings
        self.reload = reload
        self.tenants = tenants
        self.metricsText = metricsText
    }
}
