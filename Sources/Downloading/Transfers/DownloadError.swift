/// The texts are for logs only: they may contain addresses and messages of libraries.
package enum DownloadError: Error, Hashable, Sendable {
    /// A rule rejects the URL, one of its addresses or a redirect's target; clients do not learn which.
    case sourceNotAllowed(String)
    /// Clients see ``sourceNotAllowed``, and so cannot find out which internal names exist.
    case noAddress(String)
    /// No header of a response arrived: a name server's failure, or the connection was refused, reset or closed.
    case unreachable(String)
    /// The response was not valid HTTP, was not for the request, or was truncated.
    case protocolError(String)
    /// A valid response that does not fit the request: a part, a 304, or a redirect without a target.
    case unexpectedResponse(String)
    case undecodable(String)
    /// The TLS handshake or the certificate failed.
    case tls(String)
    case tooManyRedirects
    case status(Int)
    case storeRejection(Int, code: String)
    /// The origin of a private source refuses the client: 403, or 401 with its `WWW-Authenticate`.
    case accessDenied(Int, challenge: String?)
    /// The origin has no such source: 404 or 410.
    case notFound(Int)
    case timedOut
    case tooLarge
    case notAnImage(String)
    /// A response without a body: status 204 or 205, or no bytes.
    case emptyBody
    /// An operator canceled this caller's receipt.
    case receiptCanceled
    case queueFull
    case memoryFull
    case originSuspended(seconds: Int)
    /// An operator holds the origin.
    case originHeld
    case shuttingDown
    case notCached
    /// A library failed because of a bug of ours or a lack of memory.
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
