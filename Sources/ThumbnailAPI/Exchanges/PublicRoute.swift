import Dialects
import HTTPTypes
import Telemetry
import Text

/// A route of the public listener.
enum PublicRoute: Sendable {
    /// Images, requested in a dialect.
    case images(ImageRoute)
    /// Many images of one source.
    case renditions
    case live
    case ready
    /// The path at which the service of a dialect says whether it is ready.
    case probe(ImageRoute)
    case file(EmbeddedFile)
    /// No route, or a request that the server refused before it was read.
    case none

    /// The value of `Allow`.
    var allow: String {
        switch self {
        case .renditions: "POST"
        case .images(let route) where route.dialect.takesImages: "GET, HEAD, POST"
        default: "GET, HEAD"
        }
    }

    /// Whether the route answers GET and HEAD.
    var isRead: Bool {
        if case .renditions = self { false } else { true }
    }

    /// Whether requests bring images or lists of them.
    var takesBody: Bool {
        switch self {
        case .renditions: true
        case .images(let route): route.dialect.takesImages
        default: false
        }
    }

    /// The route of a raw target that is none of a dialect's; only the exact spelling of a path counts.
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

    /// The route's name in metrics and log lines.
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

    /// The route in OpenTelemetry's attribute `http.route`; empty, so that the attribute is left out, without a route.
    var attribute: String {
        if case .none = self { "" } else { label }
    }

    /// Whether images are requested here.
    var servesImages: Bool {
        if case .images = self { true } else { false }
    }

    /// Whether images are made for requests here.
    var makesImages: Bool { servesImages || takesBody }

    /// The answer to a request that failed, in the words of the route's dialect.
    func response(to problem: Problem) -> HTTPResponse {
        switch self {
        case .images(let route), .probe(let route): route.dialect.response(to: problem)
        default: problem.response
        }
    }
}

/// Finds the route of a target on the public listener: a dialect's, or one of Alula's own.
struct PublicRoutes: Sendable {
    private let images: [ImageRoute]
    private let probes: [(path: String, route: ImageRoute)]

    /// The routes of these dialects, which are asked in this order.
    init(_ images: [ImageRoute]) {
        self.images = images
        probes = images.flatMap { route in route.dialect.probePaths.map { ($0, route) } }
    }

    /// The route of a raw target, which depends on its text alone.
    func route(of target: String) -> PublicRoute {
        if !probes.isEmpty, let probe = probes.first(where: { target.prefix(before: UInt8(ascii: "?")) == $0.path }) {
            return .probe(probe.route)
        }
        let own = PublicRoute(ownTarget: target)
        return Self.owner(of: target, at: own, among: images, \.dialect).map { .images($0) } ?? own
    }

    /// The candidate whose dialect a target belongs to; nil if it belongs to none, or to `own`, which is one of Alula's
    /// own routes.
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
/// A class, because each exchange and each remembered target holds one.
final class ImageRoute: Sendable {
    /// The dialect that reads the route's targets.
    let dialect: any Dialect
    /// Whether the dialect's targets may be served; if not, all of them are refused like one with a wrong signature.
    let isOpen: Bool
    /// Count and time answers to GET with status 200; looked up once, because these are the most frequent.
    let successes: Counter
    let successTimes: Histogram

    /// The route of `dialect`.
    init(_ dialect: any Dialect, isOpen: Bool, metrics: APIMetrics) {
        self.dialect = dialect
        self.isOpen = isOpen
        successes = metrics.requests.counter(dialect.name, "200")
        successTimes = metrics.times(dialect.name, .get, status: 200)
    }
}
