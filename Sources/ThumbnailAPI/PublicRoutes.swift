import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Routes for images in all dialects, uploads, health checks, the interface description and the page.
struct PublicRoutes: RouteTable {
    private let images: [ImageRoute]
    private let probes: [(path: String, route: ImageRoute)]
    private let thumbnails: ThumbnailResponder
    private let submissions: @Sendable () -> SubmissionResponder
    private let files: EmbeddedFiles
    private let health: HealthResponses

    /// - Parameter submissions: Returns the responder to uploads; called for each body.
    init(
        _ images: [ImageRoute], thumbnails: ThumbnailResponder,
        submissions: @escaping @Sendable () -> SubmissionResponder, files: EmbeddedFiles, health: HealthResponses
    ) {
        probes = images.flatMap { route in route.dialect.readinessPaths.map { ($0, route) } }
        self.images = images
        self.thumbnails = thumbnails
        self.submissions = submissions
        self.files = files
        self.health = health
    }

    /// Returns the route, which depends only on the target's text.
    func route(of target: String) -> Route {
        if !probes.isEmpty, let probe = probes.first(where: { target.prefix(before: UInt8(ascii: "?")) == $0.path }) {
            return .client(.probe(probe.route))
        }
        let native = Route(nativeTarget: target)
        return native.owner(of: target, among: images, \.dialect).map { .client(.images($0)) } ?? native
    }

    /// Returns no limit where uploads are accepted, or if there is no route, because later checks reject the request.
    func maximumBodyLength(at route: Route) -> Int { route.takesBody || route.isNone ? .max : 0 }

    func body(of request: HTTPRequest, in context: RequestContext) throws -> ArrivingBody {
        if context.route.isNone { throw APIError.noSuchRoute }
        guard request.method == .post, context.route.takesBody else { throw APIError.methodNotAllowed }
        return try submissions().body(of: request, in: context)
    }

    func respond(to request: HTTPRequest, in context: RequestContext) throws -> PendingResponse<Outcome> {
        let route = context.route
        let isPostedProbe = if case .client(.probe) = route { request.method == .post } else { false }
        guard route.isNone || isPostedProbe || route.methods.contains(request.method) else {
            throw APIError.methodNotAllowed
        }
        switch route {
        case .client(.images(let route)): return thumbnails.respond(to: request, in: context, at: route)
        case .client(.probe(let route)):
            try route.dialect.checkProbe(RequestedTarget(request))
            return .ready(Outcome(response: health.ready(context)))
        case .ready: return .ready(Outcome(response: health.ready(context)))
        case .live: return .ready(Outcome(response: health.live))
        case .file(let file):
            guard let response = files.response(to: request, for: file) else { throw APIError.noSuchRoute }
            return .ready(Outcome(response: response))
        case .client(.renditions): throw APIError.methodNotAllowed
        case .admin, .none: throw APIError.noSuchRoute
        }
    }
}
