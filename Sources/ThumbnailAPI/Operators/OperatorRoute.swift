import HTTPTypes
import Text

/// What the operators' listener serves.
enum OperatorRoute: Equatable {
    case metrics
    case status
    case cache
    case downloads
    /// One caller's wait, by its receipt.
    case download(receipt: String)
    /// Where jobs are begun.
    case prefetch
    /// One job, by its name.
    case prefetchJob(id: String)
    case live
    case ready
    case none

    /// The route of a raw target: its path must be written exactly so.
    init(target: String) {
        let path = target.prefix(before: UInt8(ascii: "?"))
        switch path {
        case "/metrics": self = .metrics
        case "/status": self = .status
        case "/cache": self = .cache
        case "/downloads": self = .downloads
        case "/prefetch": self = .prefetch
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

    /// What follows `prefix`, when that is one segment.
    private static func member(of prefix: String, _ path: Substring) -> String? {
        guard let rest = path.suffix(after: prefix), !rest.isEmpty, !rest.utf8.contains(UInt8(ascii: "/")) else {
            return nil
        }
        return String(rest)
    }

    /// Whether it tells what anybody may know, by whatever name it is asked.
    var isHealth: Bool { self == .live || self == .ready }

    /// Longest body in bytes that the route takes; 0 where it takes none.
    var maximumBodyLength: Int { self == .prefetch ? PrefetchReader.longestBody : 0 }

    /// The methods that the route knows.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .metrics, .status, .downloads, .prefetchJob, .live, .ready: [.get, .head]
        case .prefetch: [.post]
        case .cache: [.get, .head, .delete]
        case .download: [.delete]
        case .none: []
        }
    }
}
