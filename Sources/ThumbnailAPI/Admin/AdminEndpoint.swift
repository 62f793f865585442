import HTTPTypes
import Text

/// Paths of the admin listener used by the commands; a trailing slash marks a prefix.
package enum AdminPath {
    package static let cache = "/cache"
    package static let origins = "/origins/"
    package static let prefetch = "/prefetch"
    package static let refresh = "/refresh"
    package static let reload = "/reload"
    package static let status = "/status"
}

/// A path of the admin listener and its actions.
struct AdminEndpoint: Sendable {
    /// A method at a path: its parameters, its name in the log, and its response.
    struct Action: Sendable {
        typealias Response = @Sendable (AdminRoutes) -> (AdminRequest) throws -> PendingResponse<Outcome>

        let methods: [HTTPRequest.Method]
        let parameters: Set<AdminParameter>
        /// The name in the log; nil if the action changes nothing.
        let name: String?
        let takesBody: Bool
        let response: Response

        static func get(_ parameters: Set<AdminParameter> = [], response: @escaping Response) -> Action {
            Action(methods: [.get, .head], parameters: parameters, name: nil, takesBody: false, response: response)
        }

        static func post(
            _ name: String, parameters: Set<AdminParameter> = [], takesBody: Bool = false, response: @escaping Response
        ) -> Action {
            Action(methods: [.post], parameters: parameters, name: name, takesBody: takesBody, response: response)
        }

        static func delete(
            _ name: String, parameters: Set<AdminParameter> = [], response: @escaping Response
        ) -> Action {
            Action(methods: [.delete], parameters: parameters, name: name, takesBody: false, response: response)
        }
    }

    /// The path; an ID follows if it ends with a slash.
    let path: String
    let actions: [Action]

    init(_ path: String, _ actions: Action...) {
        self.path = path
        self.actions = actions
    }

    static let all = [
        AdminEndpoint("/metrics", .get(response: AdminRoutes.metrics)),
        AdminEndpoint(AdminPath.status, .get(response: AdminRoutes.status)),
        AdminEndpoint(
            AdminPath.cache, .get(response: AdminRoutes.caches),
            .delete("purge", parameters: [.url, .tag], response: AdminRoutes.purge)),
        AdminEndpoint(
            "/downloads", .get(response: AdminRoutes.downloads),
            .delete("cancel", parameters: [.url], response: AdminRoutes.cancelDownloads)),
        AdminEndpoint("/downloads/", .delete("cancel", response: AdminRoutes.cancelWait)),
        AdminEndpoint("/events", .get([.url, .types, .after], response: AdminRoutes.events)),
        AdminEndpoint("/stats/history", .get(response: AdminRoutes.statsHistory)),
        AdminEndpoint(AdminPath.refresh, .post("refresh", parameters: [.url], response: AdminRoutes.refresh)),
        AdminEndpoint(AdminPath.origins + "hold", .post("hold", parameters: [.origin], response: AdminRoutes.hold)),
        AdminEndpoint(
            AdminPath.origins + "resume", .post("resume", parameters: [.origin], response: AdminRoutes.resume)),
        AdminEndpoint(AdminPath.reload, .post("reload", response: AdminRoutes.reload)),
        AdminEndpoint(
            AdminPath.prefetch, .get(response: AdminRoutes.jobs),
            .post("job", takesBody: true, response: AdminRoutes.beginJob)),
        AdminEndpoint(
            AdminPath.prefetch + "/", .get(response: AdminRoutes.job),
            .delete("cancel", response: AdminRoutes.cancelJob)),
        AdminEndpoint("/explain", .get([.target, .accept, .source], response: AdminRoutes.explain)),
        AdminEndpoint("/tenants", .get(response: AdminRoutes.tenants)),
    ]

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { (ExactText($0.path), $0) })

    /// Returns the route of a path; nil if no endpoint has it.
    static func route(at path: Substring) -> AdminRoute? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        let folder = path[..<path.utf8.index(after: slash)]
        let id = path[folder.endIndex...]
        // A path that ends with a slash lacks its ID.
        guard !id.isEmpty else { return nil }
        if let endpoint = byPath[ExactText(path)] { return endpoint.route() }
        return byPath[ExactText(folder)]?.route(id: String(id))
    }

    static func action(_ method: HTTPRequest.Method, at route: AdminRoute) -> Action? {
        byPath[ExactText(route.path)]?.actions.first { $0.methods.contains(method) }
    }

    private func route(id: String = "") -> AdminRoute {
        AdminRoute(
            path: path, id: id, methods: actions.flatMap(\.methods), takesBody: actions.contains(where: \.takesBody))
    }
}

/// A request to an endpoint of the admin listener.
struct AdminRequest: Sendable {
    var http: HTTPRequest
    let action: AdminEndpoint.Action
    let id: String
    let parameters: AdminParameters
    let context: RequestContext
    /// The memory of the body; nil if the action takes none.
    var bodyLease: BodyMemory.Lease?
}
