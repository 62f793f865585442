import Dialects
import HTTPTypes
import Telemetry
import Text
import ThumbnailTypes

enum Route: Sendable {
    // The public listener.
    case images(ImageRoute)
    /// Many images of one source.
    case renditions
    /// A dialect's readiness path.
    case probe(ImageRoute)

    // The admin listener.
    case metrics, status, cache, downloads, events, statsHistory, refresh, prefetch, explain
    /// One request's wait for a download, by its receipt.
    case download(receipt: String)
    case prefetchJob(id: String)

    // Both.
    case live, ready
    case file(EmbeddedFile)
    /// No route, or a request that the server rejected before it was read.
    case none

    var methods: [HTTPRequest.Method] {
        switch self {
        case .renditions, .prefetch, .refresh: [.post]
        case .images(let route) where route.dialect.takesImages: [.get, .head, .post]
        case .cache, .downloads: [.get, .head, .delete]
        case .download: [.delete]
        default: [.get, .head]
        }
    }

    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }

    /// Whether requests upload images or lists of renditions.
    var takesUploads: Bool {
        switch self {
        case .renditions: true
        case .images(let route): route.dialect.takesImages
        default: false
        }
    }

    /// The public listener's routes in metrics and log lines.
    var label: String {
        switch self {
        case .images(let route): route.dialect.name
        case .renditions: "thumbnails"
        case .live: "live"
        case .ready, .probe: "ready"
        case .file(let file): file.label
        default: "none"
        }
    }

    /// The label in traces; empty without a route.
    var attribute: String { isNone ? "" : label }

    var isNone: Bool { if case .none = self { true } else { false } }

    var servesImages: Bool { if case .images = self { true } else { false } }

    var makesImages: Bool { servesImages || takesUploads }

    /// Whether the route is a health check, which the admin listener answers for any host name.
    var isHealth: Bool {
        switch self {
        case .live, .ready: true
        default: false
        }
    }

    func response(to problem: Problem) -> HTTPResponse {
        switch self {
        case .images(let route), .probe(let route): route.dialect.response(to: problem)
        default: problem.response
        }
    }
}

extension Route {
    /// Returns the public listener's route of a raw target outside all dialects; the path must match exactly.
    init(ownTarget target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/thumbnails": self = .renditions
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default: self = EmbeddedFile.file(at: path, among: EmbeddedFile.ofClients).map { .file($0) } ?? .none
        }
    }

    /// Returns the candidate whose dialect a target at this own route belongs to; nil if there is none, or if the
    /// target is one of Alula's own routes.
    func owner<Candidate>(
        of target: String, among candidates: [Candidate], _ dialect: (Candidate) -> any Dialect
    ) -> Candidate? {
        var remainder: Candidate?
        for candidate in candidates {
            switch dialect(candidate).claim(on: target) {
            case .none: continue
            case .remainder: remainder = remainder ?? candidate
            case .certain: return candidate
            }
        }
        return isNone ? remainder : nil
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
    private let successes: Counter
    private let successTimes: Histogram

    init(_ dialect: any Dialect, isOpen: Bool, metrics: APIMetrics) {
        self.dialect = dialect
        self.isOpen = isOpen
        successes = metrics.requests.counter(dialect.name, "200")
        successTimes = metrics.times(dialect.name, .get, status: 200)
    }

    /// Counts and times a response to GET with status 200.
    func recordSuccess(seconds: Double) {
        successes.increment()
        successTimes.observe(seconds)
    }
}

/// Writes `Allow` in the response to a request with a method that its route does not know.
struct AllowedMethods: Middleware {
    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration) {
        guard answer.error?.code == APIError.methodNotAllowed.code else { return }
        answer.response.headerFields.append(.allow, exchange.route.allow)
    }
}
