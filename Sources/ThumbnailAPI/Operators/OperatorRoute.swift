import HTTPTypes
import Text

/// A route of the operators' listener.
enum OperatorRoute: Equatable {
    case metrics
    case status
    case cache
    case downloads
    /// The wait of one request for a download, by its receipt.
    case download(receipt: String)
    /// The route that begins jobs.
    case prefetch
    /// One job, by its ID.
    case prefetchJob(id: String)
    /// What a target of the public listener means.
    case explain
    case live
    case ready
    case none

    /// The route of a raw target; only the exact spelling of a path counts.
    init(target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/metrics": self = .metrics
        case "/status": self = .status
        case "/cache": self = .cache
        case "/downloads": self = .downloads
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
                self = .none
            }
        }
    }

    /// The rest of a path after `prefix`; nil unless it is one segment.
    private static func member(of prefix: String, _ path: Substring) -> String? {
        guard let rest = path.suffix(after: prefix), !rest.isEmpty, !rest.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        return String(rest)
    }

    /// Whether the route is a health check, which is answered under any name of the listener.
    var isHealth: Bool { self == .live || self == .ready }

    /// Longest body in bytes that the route takes; 0 if it takes none.
    var maximumBodyLength: Int { self == .prefetch ? PrefetchReader.longestBody : 0 }

    /// The methods that the route supports.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .metrics, .status, .downloads, .prefetchJob, .explain, .live, .ready: [.get, .head]
        case .prefetch: [.post]
        case .cache: [.get, .head, .delete]
        case .download: [.delete]
        case .none: []
        }
    }
}
