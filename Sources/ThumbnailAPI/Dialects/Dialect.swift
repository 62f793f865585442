package import HTTPTypes

/// A grammar of request targets: one way to ask for images by URL.
///
/// A dialect decides by a target and its `Accept` alone, and always in the same way: what it says of a target is remembered, and a
/// target that comes again is neither judged nor read a second time. Called on event threads; must not block.
package protocol Dialect: Sendable {
    /// The dialect's name: the value of `route` in metrics and log lines.
    var name: String { get }

    /// Whether a raw target belongs to the dialect. Asked once for each request that is not remembered: must be cheap.
    func claim(on target: String) -> DialectClaim

    /// Whether the target may be read: it is signed as the dialect demands, or no signature is demanded.
    ///
    /// Judged before anything else in the target.
    func isAuthentic(_ target: RequestedTarget) -> Bool

    /// What the target asks for, the dialect's own defaults and negotiation included.
    ///
    /// - Throws: ``APIError`` for the first thing that is wrong.
    func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery

    /// The answer to a request for one of the dialect's targets that failed, in the dialect's own status and words.
    func response(to problem: Problem) -> HTTPResponse
}

extension Dialect {
    /// The answer as Alula words it.
    package func response(to problem: Problem) -> HTTPResponse { problem.response }
}

/// How surely a target belongs to a dialect.
package enum DialectClaim: Sendable {
    /// It belongs to another.
    case none
    /// It belongs to the dialect unless Alula serves something of its own there: the claim of a dialect at `/`.
    case remainder
    /// It belongs to the dialect, whatever else Alula serves there.
    case certain
}

/// A dialect in which one source and many renditions of it can be named apart from each other.
package protocol RenditionDialect: Dialect {
    /// A target for a rendition of `source`, written in the one way in which the dialect writes targets.
    ///
    /// - Throws: ``APIError`` for the first thing that is wrong.
    func target(source: String, rendition: String) throws(APIError) -> String
}
