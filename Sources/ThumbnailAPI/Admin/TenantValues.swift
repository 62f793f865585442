import Coordination
import JSON
import Text
import ThumbnailPipeline
import ThumbnailTypes

extension JSONValue {
    static func tenants(_ accounts: [TenantAccount]) -> JSONValue {
        .object([("tenants", .array(accounts.map { tenant($0) }))])
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
