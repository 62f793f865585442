import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// The routes of the public listener: images in all dialects, uploads, health checks, the interface description and the
/// page.
struct PublicRoutes: RouteTable {
    private let images: [ImageRoute]
    private let probes: [(path: String, route: ImageRoute)]
    private let thumbnails: ThumbnailResponder
    private let submissions: SubmissionResponder
    private let files: EmbeddedFiles
    private let health: HealthResponses

    /// Creates routes to these dialects, in order of precedence.
    init(
        _ images: [ImageRoute], thumbnails: ThumbnailResponder, submissions: SubmissionResponder, files: EmbeddedFiles,
        health: HealthResponses
    ) {
        self.images = images
        probes = images.flatMap { route in route.dialect.readinessPaths.map { ($0, route) } }
        self.thumbnails = thumbnails
        self.submissions = submissions
        self.files = files
        self.health = health
    }

    /// Returns the route of a raw target, which depends only on its text.
    func route(of target: String) -> Route {
        if !probes.isEmpty, let probe = probes.first(where: { target.prefix(before: UInt8(ascii: "?")) == $0.path }) {
            return .probe(probe.route)
        }
        let own = Route(ownTarget: target)
        return own.owner(of: target, among: images, \.dialect).map { .images($0) } ?? own
    }

    /// Allows bodies of any length where images are uploaded, and without a route: their checks reject them.
    func maximumBodyLength(at route: Route) -> Int { route.takesUploads || route.isNone ? .max : 0 }

    func reply(to request: HTTPRequest, _ exchange: Exchange) throws -> Reply {
        let route = exchange.route
        if route.isNone { throw APIError.noSuchRoute }
        if request.method == .post, route.takesUploads {
            return .receiving(try submissions.body(of: request, exchange))
        }
        let mayBePosted = if case .probe = route { request.method == .post } else { false }
        guard route.methods.contains(request.method) || mayBePosted else {
            throw APIError.methodNotAllowed
        }
        switch route {
        case .images(let route): return thumbnails.reply(to: request, exchange, at: route)
        case .probe(let route):
            try route.dialect.checkProbe(RequestedTarget(request))
            return .ready(Answer(response: health.ready(exchange)))
        case .ready: return .ready(Answer(response: health.ready(exchange)))
        case .file(let file):
            return .ready(Answer(response: files.response(to: request, for: file) ?? health.live))
        default: return .ready(Answer(response: health.live))
        }
    }
}
