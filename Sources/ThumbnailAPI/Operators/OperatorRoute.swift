import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

enum OperatorRoute: Equatable {
    case metrics
    case status
    case cache
    case downloads
    case events
    case statsHistory
    case refresh
    /// The admin page, or a file of it.
    case file(EmbeddedFile)
    /// One request's wait for a download, by its receipt.
    case download(receipt: String)
    case prefetch
    case prefetchJob(id: String)
    case explain
    case live
    case ready
    case none

    /// Returns the route of a raw target; the path must match exactly.
    init(target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/metrics": self = .metrics
        case "/status": self = .status
        case "/cache": self = .cache
        case "/downloads": self = .downloads
        case "/events": self = .events
        case "/stats/history": self = .statsHistory
        case "/refresh": self = .refresh
        case "/prefetch": self = .prefetch
        case "/explain": self = .explain
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default:
            if let receipt = Self.member(of: "/downloads/", path) {
                self = .download(receipt: receipt)
            } else if let id = Self.member(of: "/prefetch/", path) {
                self = .prefetchJob(id: id)
            } else {
                self = EmbeddedFile.file(at: path, among: EmbeddedFile.ofOperators).map { .file($0) } ?? .none
            }
        }
    }

    private static func member(of prefix: String, _ path: Substring) -> String? {
        guard let rest = path.suffix(after: prefix), !rest.isEmpty, !rest.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        return String(rest)
    }

    /// Whether the route is a health check, which is answered for any host name.
    var isHealth: Bool { self == .live || self == .ready }

    /// Maximum size of the route's body in bytes; 0 if it takes none.
    var maximumBodyLength: Int { self == .prefetch ? PrefetchReader.longestBody : 0 }

    var methods: [HTTPRequest.Method] {
        switch self {
        case .metrics, .status, .prefetchJob, .explain, .live, .ready, .events, .statsHistory, .file: [.get, .head]
        case .prefetch, .refresh: [.post]
        case .cache, .downloads: [.get, .head, .delete]
        case .download: [.delete]
        case .none: []
        }
    }

    func parameters(of method: HTTPRequest.Method) -> Set<OperatorParameter> {
        switch self {
        case .cache where method == .delete: [.url, .tag]
        case .downloads where method == .delete, .refresh: [.url]
        case .events: [.url, .types]
        case .explain: [.target, .accept, .source]
        default: []
        }
    }
}

enum OperatorParameter: String {
    case url, tag, types, target, accept, source
}

/// The parameters of one request; each appears at most once, and unknown ones are rejected.
struct OperatorParameters {
    private var values: [OperatorParameter: String] = [:]

    /// Parses the query of a raw target.
    ///
    /// - Throws: ``APIError`` for a parameter that is not `allowed`, is repeated, or cannot be decoded.
    init(target: String, allowed: Set<OperatorParameter>) throws(APIError) {
        let query = RawQuery(target: target)
        for (index, item) in try query.decoded().enumerated() {
            guard let parameter = OperatorParameter(rawValue: item.name), allowed.contains(parameter) else {
                let error = APIError.unknown(item.name, among: allowed.map(\.rawValue).sorted())
                throw query.explained(error, of: index)
            }
            guard values.updateValue(item.value, forKey: parameter) == nil else {
                throw query.explained(.repeatedParameter(parameter.rawValue), of: index)
            }
        }
    }

    subscript(parameter: OperatorParameter) -> String? { values[parameter] }

    /// Returns the source in `url`, which need not be a URL; nil without one.
    func source() throws(APIError) -> ExactText? {
        guard let text = values[.url] else { return nil }
        return ExactText(try ParameterGrammar.source(text))
    }

    func tag() throws(APIError) -> ExactText? {
        guard let text = values[.tag] else { return nil }
        let name = OperatorParameter.tag.rawValue
        guard CacheTag.isTag(text) else { throw .badParameter(name, CacheTag.form) }
        guard values[.url] == nil else { throw .badParameter(name, "Excludes url.") }
        return ExactText(text)
    }

    func requiredSource() throws(APIError) -> ExactText {
        guard let source = try source() else { throw .missingParameter(OperatorParameter.url.rawValue) }
        return source
    }
}
