import Coordination
import JSON
import Text
import ThumbnailPipeline
import ThumbnailTypes

extension JSONValue {
    static func tenants(_ accounts: [TenantAccount]) -> JSONValue {
        .object([("tenants", .array(accounts.map { tenant($0) }))])
    }

    /// Tenants with requests or waiting tasks in the last minute, by processor time; empty without tenants.
    static func tenantLoads(_ accounts: [TenantAccount], waitingCount: (TenantAccount) -> Int?) -> JSONValue {
        guard accounts.contains(where: { $0.name != "default" }) else { return .array([]) }
        let loads = accounts.compactMap { account in
            account.history.windows.first.map { (account.name.string, $0.use, waitingCount(account)) }
        }.filter { !$1.requests.isEmpty || $2 ?? 0 > 0 }.sorted { ($1.1.processor, $0.0) < ($0.1.processor, $1.0) }
        return .array(
            loads.prefix(maximumRows).map { name, use, waiting in
                .object([("name", .string(name))] + members(use) + (waiting.map { [("waiting", .int($0))] } ?? []))
            })
    }

    private static func tenant(_ account: TenantAccount) -> JSONValue {
        let history = account.history
        let windows = history.windows.map { ($0.name, JSONValue.object(members($0.use))) }
        return .object(
            [("name", .string(account.name.string))] + members(history.total) + [("windows", .object(windows))])
    }

    private static func members(_ use: TenantUse) -> [(String, JSONValue)] {
        let refusals = use.refusals.map { ($0.key.rawValue, JSONValue.int($0.value)) }.sorted { $0.0 < $1.0 }
        return [
            ("requests", .int(use.requests.values.reduce(0, +))), ("hits", .int(use.requests[.hit] ?? 0)),
            ("refusals", .object(refusals)),
            ("processorSeconds", .double((use.processor.seconds * 1_000_000).rounded() / 1_000_000)),
            ("originBytes", .int(use.originBytes)), ("sentBytes", .int(use.sentBytes)),
        ]
    }
}
