import HTTPTypes
import Text

/// What the public listener serves.
enum PublicRoute: Sendable {
    /// An image, asked for in a dialect.
    case images(ImageRoute)
    case live
    case ready
    case document
    case page
    case pageStyle
    case pageScript
    /// No route, or a request that never became one.
    case none

    /// Value of `Allow`: every public route is read only.
    static let allow = "GET, HEAD"

    /// Alula's own route of a raw target beside its dialects: its path must be written exactly so.
    init(ownTarget target: String) {
        self =
            switch target.prefix(before: UInt8(ascii: "?")) {
            case "/health/live": .live
            case "/health/ready": .ready
            case "/openapi.yaml": .document
            case "/": .page
            case "/page.css": .pageStyle
            case "/page.js": .pageScript
            default: .none
            }
    }

    /// The route's name in metrics and log lines.
    var label: String {
        switch self {
        case .images(let route): route.dialect.name
        case .live: "live"
        case .ready: "ready"
        case .document: "openapi"
        case .page: "page"
        case .pageStyle: "page_css"
        case .pageScript: "page_js"
        case .none: "none"
        }
    }

    /// Whether images are asked for here.
    var servesImages: Bool {
        if case .images = self { true } else { false }
    }

    /// The answer to a request that failed, in the words of the route's dialect.
    func response(to problem: Problem) -> HTTPResponse {
        guard case .images(let route) = self else { return problem.response }
        return route.dialect.response(to: problem)
    }
}
