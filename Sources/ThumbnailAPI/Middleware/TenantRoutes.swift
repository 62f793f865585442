import Coordination
import Dialects
import HTTPTypes
import ThumbnailPipeline

/// The tenants that a request may belong to.
struct RequestTenant: Sendable {
    /// The one whose key the request names, or whose host.
    let claimed: TenantAccount
    let host: TenantAccount

    /// A key that did not sign the request says nothing of its tenant.
    func account(isSigned: Bool) -> TenantAccount { isSigned ? claimed : host }
}

/// The routes of each tenant, made at its first request, because many of a service's tenants may be idle.
final class TenantRoutes: Sendable {
    private let directory: TenantDirectory
    private let accounts: [TenantAccount]
    private let make: @Sendable (_ tenant: Int) -> any RouteTable
    private let made: [Locked<(any RouteTable)?>]

    init(_ places: [TenantPlace], make: @escaping @Sendable (_ tenant: Int) -> any RouteTable) {
        directory = TenantDirectory(places)
        accounts = places.map(\.account)
        self.make = make
        made = places.map { _ in Locked(nil) }
    }

    func table(for request: HTTPRequest) -> (routes: any RouteTable, tenant: RequestTenant) {
        let claim = directory.claim(
            of: RequestedTarget(request), host: request.headerFields[.host],
            hasBodySignature: request.headerFields.contains(.alulaSignature))
        let tenant = RequestTenant(claimed: accounts[claim.tenant], host: accounts[claim.host])
        return (made(claim.tenant) ?? routes(of: isForged(request, claim) ? claim.host : claim.tenant), tenant)
    }

    /// A name of a key alone must not take the time that the routes of its tenant take to make.
    private func isForged(_ request: HTTPRequest, _ claim: TenantDirectory.Claim) -> Bool {
        claim.tenant != claim.host && !request.headerFields.contains(.alulaSignature)
            && directory.isForged(request.target)
    }

    private func made(_ tenant: Int) -> (any RouteTable)? { made[tenant].withLock(\.self) }

    private func routes(of tenant: Int) -> any RouteTable {
        made[tenant].withLock { routes in
            let made = routes ?? make(tenant)
            routes = made
            return made
        }
    }
}
