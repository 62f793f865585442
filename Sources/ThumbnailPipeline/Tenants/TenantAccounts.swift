package import Coordination
package import Telemetry
package import Text
import ThumbnailTypes

/// The accounts of all tenants since the start, including removed ones.
///
/// Also has `default` without tenants, if `costHeader` is on.
package final class TenantAccounts: Sendable {
    private let accounts = Locked<[ExactText: TenantAccount]>([:])
    private let timekeeper: any Timekeeper

    package init(registry: MetricsRegistry, timekeeper: any Timekeeper) {
        self.timekeeper = timekeeper
        let each = { @Sendable [weak self] (values: (TenantUse) -> [([String], Double)]) -> [([String], Double)] in
            (self?.all ?? []).flatMap { account in
                values(account.history.total).map { ([account.name.string] + $0.0, $0.1) }
            }
        }
        registry.observableCounter(
            "alula_tenant_requests_total", help: "Responses by tenant and cache result.", labels: "tenant", "cache",
            counting: "request"
        ) { each { $0.requests.map { ([$0.key?.rawValue ?? ""], Double($0.value)) } } }
        registry.observableCounter(
            "alula_tenant_refusals_total", help: "Failed requests by tenant and error code.", labels: "tenant", "code",
            counting: "request"
        ) { each { $0.refusals.map { ([$0.key.rawValue], Double($0.value)) } } }
        registry.observableCounter(
            "alula_tenant_processor_seconds_total", help: "Processor time of image work by tenant.", labels: "tenant"
        ) { each { [([], $0.processor.seconds)] } }
        registry.observableCounter(
            "alula_tenant_origin_bytes_total", help: "Bytes fetched from origins by tenant.", labels: "tenant"
        ) { each { [([], Double($0.originBytes))] } }
        registry.observableCounter(
            "alula_tenant_sent_bytes_total", help: "Bytes of response bodies by tenant.", labels: "tenant"
        ) { each { [([], Double($0.sentBytes))] } }
    }

    package func account(of name: ExactText, limits: TenantAccount.Limits) -> TenantAccount {
        let account = accounts.withLock { accounts in
            let account =
                accounts[name]
                ?? TenantAccount(name, number: name == "default" ? nil : accounts.count + 1, timekeeper: timekeeper)
            accounts[name] = account
            return account
        }
        account.setLimits(limits)
        return account
    }

    /// Sorted by name.
    package var all: [TenantAccount] { accounts.withLock { $0.values.sorted { $0.name < $1.name } } }
}
