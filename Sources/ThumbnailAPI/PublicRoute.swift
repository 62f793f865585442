import HTTPTypes
import Text

/// What the public listener serves; the raw value is a metric label.
enum PublicRoute: String, CaseIterable, Sendable {
    case thumbnail
    case live
    case ready
    case document = "openapi"
    case page
    case pageStyle = "page_css"
    case pageScript = "page_js"
    /// No route, or a request that never became one.
    case none

    /// The route of a raw target: its path must be written exactly so.
    init(target: String) {
        self =
            switch target.prefix(before: UInt8(ascii: "?")) {
            case "/thumbnail": .thumbnail
            case "/health/live": .live
            case "/health/ready": .ready
            case "/openapi.yaml": .document
            case "/": .page
            case "/page.css": .pageStyle
            case "/page.js": .pageScript
            default: .none
            }
    }

    /// Value of `Allow`: every public route is read only.
    static let allow = "GET, HEAD"
}
