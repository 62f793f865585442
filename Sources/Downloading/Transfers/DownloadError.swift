import Coordination

/// The texts are only for logs: they may contain addresses and messages of libraries.
package enum DownloadError: Error, Hashable, Sendable {
    /// A rule rejects the URL, one of its addresses or a redirect target; clients do not learn which.
    case sourceNotAllowed(String)
    /// Clients see ``sourceNotAllowed``, so that they cannot find out which internal names exist.
    case noAddress(String)
    /// No response arrived: the name server failed, or the connection was refused, reset or closed.
    case unreachable(String)
    /// The response was not valid HTTP, did not match the request, or was truncated.
    case protocolError(String)
    /// An unexpected valid response: a range, a 304, or a redirect without a target.
    case unexpectedResponse(String)
    case undecodable(String)
    /// The TLS handshake or the certificate failed.
    case tls(String)
    case tooManyRedirects
    case status(Int)
    case storeRejection(Int, code: String)
    /// The origin of a private source denied access: 403, or 401 with `WWW-Authenticate`.
    case accessDenied(Int, challenge: String?)
    /// The origin has no such source: 404 or 410.
    case notFound(Int)
    case timedOut
    case tooLarge
    case notAnImage(String)
    /// A response without a body: 204, 205, or no bytes.
    case emptyBody
    /// An operator canceled this caller's receipt.
    case receiptCanceled
    case queueFull
    case memoryFull
    case originSuspended(seconds: Int)
    /// An operator has paused the origin.
    case originHeld
    case shuttingDown
    case notCached
    /// A library failed because of a bug or a lack of memory.
    case `internal`(String)
}

extension DownloadError {
    package var upstreamStatus: Int? {
        switch self {
        case .status(let status), .storeRejection(let status, _), .notFound(let status), .accessDenied(let status, _):
            status
        default: nil
        }
    }
}

extension DownloadError {
    static func replacingPoolErrors<Result>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch is WorkerPool.Full {
            throw Self.queueFull
        } catch is WorkerPool.Stopped {
            throw Self.shuttingDown
        } catch is DeadlineExceeded {
            throw Self.timedOut
        }
    }
}
