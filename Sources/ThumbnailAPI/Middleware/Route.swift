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
        case .client(.renditions): [.post]
        case .admin(let route): route.methods
        case .client(.images(let route)) where route.dialect.takesImages: [.get, .head, .post]
        default: [.get, .head]
        }
    }

    var allow: String { methods.map(\.rawValue).joined(separator: ", ") }

    var takesBody: Bool {
        switch self {
        case .client(.renditions): true
        case .admin(let route): route.takesBody
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

struct AdminRoute: Sendable {
    /// The path without an ID.
    let path: String
    /// The ID at the end of the path; empty if the path takes none.
    let id: String
    let methods: [HTTPRequest.Method]
    let takesBody: Bool
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

struct AllowedMethods: ResponseCompletion {
    func complete(_ outcome: inout Outcome, to context: RequestContext, at now: Duration) {
        guard let error = outcome.error as? APIError, error == .methodNotAllowed else { return }
        outcome.response.headerFields.append(.allow, context.route.allow)
    }
}
