/// Finds the route of a target on the public listener: a dialect's, or one of Alula's own.
struct PublicRoutes: Sendable {
    private let images: [ImageRoute]

    /// The routes with these dialects, which are asked in this order.
    init(_ dialects: [any Dialect], metrics: APIMetrics) {
        images = dialects.map { ImageRoute($0, metrics: metrics) }
    }

    /// The route of a raw target: a function of its text alone.
    func route(of target: String) -> PublicRoute {
        var remainder: ImageRoute?
        for route in images {
            switch route.dialect.claim(on: target) {
            case .none: continue
            case .remainder: remainder = remainder ?? route
            case .certain: return .images(route)
            }
        }
        let own = PublicRoute(ownTarget: target)
        guard case .none = own, let remainder else { return own }
        return .images(remainder)
    }
}
