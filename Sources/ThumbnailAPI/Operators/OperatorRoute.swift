import HTTPTypes

/// What the operators' listener serves.
enum OperatorRoute: Equatable {
    case metrics
    case status
    case cache
    case downloads
    /// One caller's wait, by its receipt.
    case download(receipt: String)
    case live
    case ready
    case none

    /// The route of a raw target: its path must be written exactly so.
    init(target: String) {
        let path = target.firstIndex(of: "?").map { target[..<$0] } ?? target[...]
        switch path {
        case "/metrics": self = .metrics
        case "/status": self = .status
        case "/cache": self = .cache
        case "/downloads": self = .downloads
        case "/health/live": self = .live
        case "/health/ready": self = .ready
        default:
            let prefix = "/downloads/"
            let receipt = path.dropFirst(prefix.count)
            let isReceipt = path.hasPrefix(prefix) && !receipt.isEmpty && !receipt.contains("/")
            self = isReceipt ? .download(receipt: String(receipt)) : .none
        }
    }

    /// The methods that the route knows.
    var methods: [HTTPRequest.Method] {
        switch self {
        case .metrics, .status, .downloads, .live, .ready: [.get, .head]
        case .cache: [.get, .head, .delete]
        case .download: [.delete]
        case .none: []
        }
    }
}
