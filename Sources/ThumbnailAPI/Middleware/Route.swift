import Dialects
import HTTPTypes
import Telemetry
import Text
import ThumbnailTypes

enum Route: Sendable {
    case client(ClientRoute)
    case admin(AdminRoute)
    case live, ready
    case file(EmbeddedFile)
    /// No route, or a request that the server rejected before it was read.
    case none

    var methods: [HTTPRequest.Method] {
        switch self {
        case .client(.renditions), .admin(.refresh), .admin(.reload), .admin(.hold), .admin(.resume): [.post]
        case .admin(.prefetch): [.get, .head, .post]
        case .client(.images(let route)) where route.dialect.takesImages: [.get, .head, .post]
        case .admin(.cache), .admin(.downloads), .admin(.prefetchJob): [.get, .head, .delete]
        case .admin(.download): [.delete]
        default: [.get, .head]
        }
    }

    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }

    var takesBody: Bool {
        switch self {
        case .client(.renditions), .admin(.prefetch): true
        case .client(.images(let route)): route.dialect.takesImages
        default: false
        }
    }

    var label: String {
        switch self {
        case .client(.images(let route)): route.dialect.name
        case .client(.renditions): "thumbnails"
        case .live: "live"
        case .ready, .client(.probe): "ready"
        case .file(let file): file.label
        case .admin, .none: "none"
        }
    }

    var attribute: String { isNone ? "" : label }

    /// Whether supervisors and load balancers poll the route.
    var isProbe: Bool {
        switch self {
        case .live, .ready, .client(.probe): true
        default: false
        }
    }

    var isNone: Bool { if case .none = self { true } else { false } }

    var images: ImageRoute? { if case .client(.images(let route)) = self { route } else { nil } }

    func response(to problem: Problem) -> HTTPResponse {
        switch self {
        case .client(.images(let route)), .client(.probe(let route)): route.dialect.response(to: problem)
        default: problem.response
        }
    }
}

enum ClientRoute: Sendable {
    case images(ImageRoute)
    case renditions
    case probe(ImageRoute)
}

enum AdminRoute: Sendable {
    case metrics, status, cache, downloads, events, statsHistory, refresh, reload, hold, resume, prefetch, explain
    case tenants
    case download(receipt: String)
    case prefetchJob(id: String)
}

extension Route {
    /// Creates a route outside all dialects; the path must match exactly.
    init(nativeTarget target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/thumbnails": self = .client(.renditions)
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default: self = EmbeddedFile.file(at: path, among: EmbeddedFile.ofPublicListener).map { .file($0) } ?? .none
        }
    }

    /// Returns the candidate whose dialect serves the target; nil if this route does.
    func owner<Candidate>(
        of target: String, among candidates: [Candidate], _ dialect: (Candidate) -> any Dialect
    ) -> Candidate? {
        var fallback: Candidate?
        for candidate in candidates {
            switch dialect(candidate).match(on: target) {
            case .none: continue
            case .fallback: fallback = fallback ?? candidate
            case .exact: return candidate
            }
        }
        return isNone ? fallback : nil
    }
}

/// A dialect's route; a class, because each exchange and each cached target holds one.
final class ImageRoute: Sendable {
    let dialect: any Dialect
    let isOpen: Bool
    private let keyIDs: [ExactText]
    /// Counts hits with GET and status 200; looked up once, because these responses are the most frequent.
    private let hits: Counter
    private let hitTimes: Histogram

    /// - Parameter keyIDs: The names of the dialect's keys; if empty, keys are numbered.
    init(_ dialect: any Dialect, isOpen: Bool, keyIDs: [ExactText] = [], metrics: APIMetrics) {
        self.dialect = dialect
        self.isOpen = isOpen
        self.keyIDs = keyIDs
        hits = metrics.requests.counter(dialect.name, "200")
        hitTimes = metrics.times(of: dialect.name, cache: .hit, method: .get, status: 200)
        for cache in CacheUse.allCases { _ = metrics.times(of: dialect.name, cache: cache, method: .get, status: 200) }
    }

    /// Returns the ID of the key that signs an authentic target.
    func keyID(of target: RequestedTarget) -> String? {
        dialect.keyID(of: target).map { id in
            Int(id).flatMap { keyIDs.indices.contains($0 - 1) ? keyIDs[$0 - 1].string : nil } ?? id
        }
    }

    func recordHit(seconds: Double, traceID: String? = nil) {
        hits.increment()
        hitTimes.observe(seconds, traceID: traceID)
    }
}

struct AllowedMethods: ResponseCompletion {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard let error = outcome.error as? APIError, error == .methodNotAllowed else { return }
        outcome.response.headerFields.append(.allow, context.route.allow)
    }
}
