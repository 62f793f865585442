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
    /// Also a request that the server rejected before it was read.
    case none

    var methods: [HTTPRequest.Method] {
        switch self {
        case .client(.renditions), .admin(.refresh): [.post]
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
    case metrics, status, cache, downloads, events, statsHistory, refresh, prefetch, explain
    case download(receipt: String)
    case prefetchJob(id: String)
}

extension Route {
    /// Outside all dialects; the path must match exactly.
    init(ownTarget target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/thumbnails": self = .client(.renditions)
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default: self = EmbeddedFile.file(at: path, among: EmbeddedFile.ofClients).map { .file($0) } ?? .none
        }
    }

    /// The candidate whose dialect a target at this own route belongs to; nil if the target is one of Alula's own
    /// routes.
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

/// Of a dialect; a class, because each exchange and each cached target holds one.
final class ImageRoute: Sendable {
    let dialect: any Dialect
    let isOpen: Bool
    /// GET with status 200: looked up once because these responses are the most frequent.
    private let successes: Counter
    private let successTimes: Histogram

    init(_ dialect: any Dialect, isOpen: Bool, metrics: APIMetrics) {
        self.dialect = dialect
        self.isOpen = isOpen
        successes = metrics.requests.counter(dialect.name, "200")
        successTimes = metrics.times(dialect.name, .get, status: 200)
    }

    func recordSuccess(seconds: Double) {
        successes.increment()
        successTimes.observe(seconds)
    }
}

struct AllowedMethods: AnswerCompletion {
    func complete(_ answer: inout Answer, to exchange: Exchange, at now: Duration) {
        guard let error = answer.error as? APIError, error == .methodNotAllowed else { return }
        answer.response.headerFields.append(.allow, exchange.route.allow)
    }
}
