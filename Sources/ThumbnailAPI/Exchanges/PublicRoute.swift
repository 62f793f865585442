import Dialects
import HTTPTypes
import Telemetry
import Text

enum PublicRoute: Sendable {
    case images(ImageRoute)
    /// Many images of one source.
    case renditions
    case live
    case ready
    /// A dialect's readiness path.
    case probe(ImageRoute)
    case file(EmbeddedFile)
    /// No route, or a request that the server rejected before it was read.
    case none

    /// The value of `Allow`.
    var allow: String {
        switch self {
        case .renditions: "POST"
        case .images(let route) where route.dialect.takesImages: "GET, HEAD, POST"
        default: "GET, HEAD"
        }
    }

    var isRead: Bool {
        if case .renditions = self { false } else { true }
    }

    /// Whether requests upload images or lists of renditions.
    var takesBody: Bool {
        switch self {
        case .renditions: true
        case .images(let route): route.dialect.takesImages
        default: false
        }
    }

    /// Returns the route of a raw target outside all dialects; the path must match exactly.
    init(ownTarget target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        self =
            switch path {
            case "/thumbnails": .renditions
            case "/health/live": .live
            case "/health/ready": .ready
            default: EmbeddedFile.file(at: path, among: EmbeddedFile.ofClients).map { .file($0) } ?? .none
            }
    }

    var label: String {
        switch self {
        case .images(let route): route.dialect.name
        case .renditions: "thumbnails"
        case .live: "live"
        case .ready, .probe: "ready"
        case .file(let file): file.label
        case .none: "none"
        }
    }

    var attribute: String {
        if case .none = self { "" } else { label }
    }

    var servesImages: Bool {
        if case .images = self { true } else { false }
    }

    var makesImages: Bool { servesImages || takesBody }

    func response(to problem: Problem) -> HTTPResponse {
        switch self {
        case .images(let route), .probe(let route): route.dialect.response(to: problem)
        default: problem.response
        }
    }
}

/// Routes targets of the public listener to a dialect or to one of Alula's own routes.
struct PublicRoutes: Sendable {
    private let images: [ImageRoute]
    private let probes: [(path: String, route: ImageRoute)]

    /// Creates routes to these dialects, in order of precedence.
    init(_ images: [ImageRoute]) {
        self.images = images
        probes = images.flatMap { route in route.dialect.probePaths.map { ($0, route) } }
    }

    /// Returns the route of a raw target, which depends only on its text.
    func route(of target: String) -> PublicRoute {
        if !probes.isEmpty, let probe = probes.first(where: { target.prefix(before: UInt8(ascii: "?")) == $0.path }) {
            return .probe(probe.route)
        }
        let own = PublicRoute(ownTarget: target)
        return Self.owner(of: target, at: own, among: images, \.dialect).map { .images($0) } ?? own
    }

    /// Returns the candidate whose dialect a target belongs to; nil if there is none, or if it is one of Alula's own
    /// routes.
    static func owner<Candidate>(
        of target: String, at own: PublicRoute, among candidates: [Candidate],
        _ dialect: (Candidate) -> any Dialect
    ) -> Candidate? {
        var remainder: Candidate?
        for candidate in candidates {
            switch dialect(candidate).claim(on: target) {
            case .none: continue
            case .remainder: remainder = remainder ?? candidate
            case .certain: return candidate
            }
        }
        if case .none = own { return remainder }
        return nil
    }
}

/// The route of a dialect on the public listener.
///
/// A class, because each exchange and each cached target holds one.
final class ImageRoute: Sendable {
    let dialect: any Dialect
    /// Whether the dialect's targets are served; if not, all are rejected like those with a wrong signature.
    let isOpen: Bool
    /// Counters for GET responses with status 200, looked up once because these are the most frequent.
    let successes: Counter
    let successTimes: Histogram

    init(_ dialect: any Dialect, isOpen: Bool, metrics: APIMetrics) {
        self.dialect = dialect
        self.isOpen = isOpen
        successes = metrics.requests.counter(dialect.name, "200")
        successTimes = metrics.times(dialect.name, .get, status: 200)
    }
}
