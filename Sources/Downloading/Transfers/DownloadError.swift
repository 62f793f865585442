/// Why a source could not be fetched.
///
/// The texts are for logs only: they may hold addresses and words of libraries.
package enum DownloadError: Error, Hashable, Sendable {
    /// The URL, one of its addresses or a redirect's target is not allowed: the rule, and the value that it refuses.
    /// Clients do not learn which of them.
    case sourceNotAllowed(String)
    /// The name has no address; for clients the same as ``sourceNotAllowed``, or they could find out which names
    /// exist inside.
    case noAddress(String)
    /// No header of an answer arrived: a name server's failure, refused, reset, closed.
    case unreachable(String)
    /// The answer was not valid HTTP, was not for the request, or was cut short.
    case protocolError(String)
    /// A valid answer that does not fit the request: a part, 304, a redirect without a target.
    case notAsked(String)
    /// The body is not what its content coding says.
    case undecodable(String)
    /// The TLS handshake or the certificate failed.
    case tls(String)
    /// Too many redirects, or a loop of them.
    case tooManyRedirects
    /// A valid answer with an unwanted status.
    case status(Int)
    /// The same of a store of objects, with the error code in its body.
    case storeRefusal(Int, code: String)
    /// The origin has no such source: 404 or 410.
    case notFound(Int)
    /// Connecting, the first byte or the whole transfer took too long, or bytes came too slowly.
    case timedOut
    /// The body is larger than allowed, announced or as it arrived.
    case tooLarge
    /// The answer's content type is not an image's.
    case notAnImage(String)
    /// An answer without a body: status 204 or 205, or no bytes.
    case emptyBody
    /// An operator cancelled this caller's receipt.
    case receiptCancelled
    /// Too many downloads wait.
    case queueFull
    /// There is no memory for the body.
    case memoryFull
    /// The origin has failed so often that it is suspended for so many seconds.
    case originSuspended(seconds: Int)
    /// The service is about to end.
    case shuttingDown
    /// The caller wants only a cached source, and there is none.
    case notCached
    /// A library failed in a way that is a bug of ours or a lack of memory.
    case `internal`(String)
}

extension DownloadError {
    /// The status that the origin answered with, if it answered.
    package var upstreamStatus: Int? {
        switch self {
        case .status(let status), .storeRefusal(let status, _), .notFound(let status): status
        default: nil
        }
    }
}
