import Coordination
import HTTPTypes
import Telemetry
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Records requests in their tenants' accounts, and shows their costs.
struct RequestCosts: ResponseCompletion {
    /// Whether responses have the field `Alula-Cost`.
    let isShown: Bool

    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard isShown || context.tenant != nil, context.route.takesBody || context.route.images != nil else { return }
        let hasBody = context.method != .head && outcome.response.status != .notModified
        let sentBytes = hasBody ? outcome.response.body.count : 0
        if isShown { outcome.response.headerFields.append(costs: outcome.bill, sentBytes: sentBytes) }
        guard let account = context.account(after: outcome.error) else { return }
        if case .streamed(let body) = outcome.response.body { body.onTake { account.charge(sentBytes: $0) } }
        account.record(cache: outcome.cache, code: outcome.error?.response.code, sentBytes: sentBytes)
    }
}

extension HTTPFields {
    /// Adds `processor;dur=12.3, origin;bytes=1203311, sent;bytes=16550`; a nil bill means no work.
    fileprivate mutating func append(costs bill: RequestBill?, sentBytes: Int) {
        let tenths = Int(((bill?.processorTime ?? .zero).milliseconds * 10).rounded())
        let processor = tenths.decimal(places: 1, minimum: 1)
        let origin = bill?.originBytes ?? 0
        append(.alulaCost, "processor;dur=\(processor), origin;bytes=\(origin), sent;bytes=\(sentBytes)")
    }
}

/// The costs of one tenant's requests.
struct CostAccounting: Sendable {
    /// The account; nil if costs are not recorded.
    let account: TenantAccount?
    let isShown: Bool

    /// A new bill; nil if costs are neither recorded nor shown.
    var newBill: RequestBill? { account != nil || isShown ? RequestBill(to: account) : nil }

    /// Counts a request after its signature was verified.
    func admit() throws(TenantRejection) {
        if let rejection = account?.rejection() { throw rejection }
    }

    func record(_ hit: RepeatedHit) { account?.record(cache: .hit, code: nil, sentBytes: hit.sentBytes) }

    /// Adds the costs of a hit if they are shown.
    func addField(to fields: inout HTTPFields, sentBytes: Int) {
        if isShown { fields.append(costs: nil, sentBytes: sentBytes) }
    }
}
