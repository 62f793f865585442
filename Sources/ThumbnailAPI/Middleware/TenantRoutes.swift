import Coordination
import Dialects
import HTTPTypes
import ThumbnailPipeline

/// The tenants that a request may belong to.
struct RequestTenant: Sendable {
    /// The tenant whose key the request names, or whose host it uses.
    let claimed: TenantAccount
    let host: TenantAccount

    /// Returns the tenant whose key the request names, or the host's tenant if the key did not sign the request.
    func account(isSigned: Bool) -> TenantAccount { isSigned ? claimed : host }
}

/// The routes of a listener.
enum ListenerRoutes: Sendable {
    /// Without tenants; the account is nil if costs are not recorded.
    case single(any RouteTable, account: RequestTenant? = nil)
    case byTenant(TenantRoutes)

    func table(for request: HTTPRequest) -> (routes: any RouteTable, tenant: RequestTenant?) {
        switch self {
        case .single(let routes, let account): (routes, account)
        case .byTenant(let tenants): tenants.table(for: request)
        }
    }
}

/// The routes of each tenant, created at its first request, because many tenants may be idle.
final class TenantRoutes: Sendable {
    private let directory: TenantDirectory
    private let accounts: [TenantAccount]
    private let routes: [Once<any RouteTable>]

    init(_ tenants: [TenantDirectory.Entry], make: @escaping @Sendable (_ tenant: Int) -> any RouteTable) {
        directory = TenantDirectory(tenants)
        accounts = tenants.map(\.account)
        routes = tenants.indices.map { tenant in Once { make(tenant) } }
    }

    func table(for request: HTTPRequest) -> (routes: any RouteTable, tenant: RequestTenant) {
        let claim = directory.claim(
            of: RequestedTarget(request), host: request.headerFields[.host],
            hasBodySignature: request.headerFields.contains(.alulaSignature))
        let tenant = RequestTenant(claimed: accounts[claim.tenant], host: accounts[claim.host])
        let existing = routes[claim.tenant].existing
        return (existing ?? routes[isForged(request, by: claim) ? claim.host : claim.tenant].value, tenant)
    }

    /// Called before a tenant's routes are created, which costs too much for a forged key.
    private func isForged(_ request: HTTPRequest, by claim: TenantDirectory.Claim) -> Bool {
        claim.tenant != claim.host && !request.headerFields.contains(.alulaSignature)
            && directory.isForged(request.target)
    }
}
