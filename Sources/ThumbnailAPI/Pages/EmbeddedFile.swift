/// A file that is part of the program: the interface description, the pages with their styles and scripts, and the
/// book.
///
/// A page stands at `/`, and all that it loads under `/page/`.
enum EmbeddedFile: Hashable, Sendable {
    case document
    case page
    case pageStyle
    case pageScript
    case formScript
    case answerScript
    case compareScript
    case snippetsScript
    case signingScript
    case operatorPage
    case operatorStyle
    case operatorScript
    case chartsScript
    case historyScript
    case listsScript
    case transfersScript
    case unitsScript
    case baseStyle
    case icon
    case chapter(BookChapter)

    /// The files of the public listener.
    static let ofClients: [EmbeddedFile] =
        [
            .document, .page, .pageStyle, .pageScript, .formScript, .answerScript, .compareScript, .snippetsScript,
            .signingScript, .unitsScript, .baseStyle, .icon,
        ] + BookChapter.ofClients.map { .chapter($0) }
    /// The files of the operators' listener.
    static let ofOperators: [EmbeddedFile] =
        [
            .operatorPage, .operatorStyle, .operatorScript, .chartsScript, .historyScript, .listsScript,
            .transfersScript,
            .unitsScript, .baseStyle, .icon,
        ] + BookChapter.ofOperators.map { .chapter($0) }

    /// The path at which the file is served.
    var path: String {
        switch self {
        case .document: "/openapi.yaml"
        case .page, .operatorPage: "/"
        case .pageStyle: "/page/page.css"
        case .pageScript: "/page/page.js"
        case .formScript: "/page/form.js"
        case .answerScript: "/page/answer.js"
        case .compareScript: "/page/compare.js"
        case .snippetsScript: "/page/snippets.js"
        case .signingScript: "/page/signing.js"
        case .operatorStyle: "/page/operators.css"
        case .operatorScript: "/page/operators.js"
        case .chartsScript: "/page/charts.js"
        case .historyScript: "/page/history.js"
        case .listsScript: "/page/lists.js"
        case .transfersScript: "/page/transfers.js"
        case .unitsScript: "/page/units.js"
        case .baseStyle: "/page/base.css"
        case .icon: "/page/icon.svg"
        case .chapter(let chapter): chapter.path
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .document: PackageResources.openapi_yaml
        case .page: PackageResources.page_html
        case .pageStyle: PackageResources.page_css
        case .pageScript: PackageResources.page_js
        case .formScript: PackageResources.form_js
        case .answerScript: PackageResources.answer_js
        case .compareScript: PackageResources.compare_js
        case .snippetsScript: PackageResources.snippets_js
        case .signingScript: PackageResources.signing_js
        case .operatorPage: PackageResources.operators_html
        case .operatorStyle: PackageResources.operators_css
        case .operatorScript: PackageResources.operators_js
        case .chartsScript: PackageResources.charts_js
        case .historyScript: PackageResources.history_js
        case .listsScript: PackageResources.lists_js
        case .transfersScript: PackageResources.transfers_js
        case .unitsScript: PackageResources.units_js
        case .baseStyle: PackageResources.base_css
        case .icon: PackageResources.icon_svg
        case .chapter(let chapter): chapter.bytes
        }
    }

    /// The value of `Content-Type`.
    var mediaType: String {
        let types = [
            (".css", "text/css; charset=utf-8"), (".js", "text/javascript; charset=utf-8"),
            (".svg", "image/svg+xml"), (".yaml", "application/yaml"), (".md", "text/plain; charset=utf-8"),
        ]
        return types.first { path.hasSuffix($0.0) }?.1 ?? "text/html; charset=utf-8"
    }

    /// Whether the file is a page, which loads others.
    var isPage: Bool { path == "/" }

    /// The name in metrics and log lines.
    var label: String {
        switch self {
        case .document: "openapi"
        case .page, .operatorPage: "page"
        default: "page_file"
        }
    }

    /// The file of this list at `path`; nil if none is there.
    ///
    /// Most paths are other routes', and are let go at their first bytes.
    static func file(at path: Substring, among files: [EmbeddedFile]) -> EmbeddedFile? {
        switch path.utf8.dropFirst().first {
        case nil, UInt8(ascii: "o"), UInt8(ascii: "p"): files.first { $0.path.utf8.elementsEqual(path.utf8) }
        default: nil
        }
    }
}
