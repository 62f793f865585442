package import HTTPTypes
package import Text
package import ThumbnailTypes

/// A grammar of request targets: a way to request images by URL.
///
/// A dialect's decision must depend only on a ``RequestedTarget``, whose used hints it records in
/// ``Request/hintFields``, and must be deterministic, because it is cached: a repeated target is neither checked
/// nor parsed again. Which hints it uses must not depend on their values. Called on event threads; must not block.
package protocol Dialect: Sendable {
    /// The dialect's name: the value of `route` in metrics and log lines.
    var name: String { get }

    /// The name in the setting `unsignedDialects`, under which the dialect's keys close others.
    var unsignedName: String { get }

    /// Whether the dialect has its own signing keys.
    ///
    /// A dialect that serves unsigned targets is closed while others have keys, unless the configuration names it: it
    /// must not open what their keys close.
    var signatures: DialectSignatures { get }

    /// The readiness paths of the other service.
    ///
    /// Alula answers there as at `/health/ready`, so that existing probes work.
    var readinessPaths: [String] { get }

    func checkProbe(_ target: RequestedTarget) throws(APIError)

    var uploads: DialectUploads { get }

    /// Returns whether a raw target belongs to the dialect.
    ///
    /// Called for each request whose header is new, so it must be cheap.
    func claim(on target: String) -> DialectClaim

    /// Returns whether the target may be parsed: its signature is valid, or not required.
    ///
    /// Checked before the target is parsed.
    func isAuthentic(_ target: RequestedTarget) -> Bool

    func isSigned(_ target: RequestedTarget) -> Bool

    /// Parses a target to a query, with the dialect's own defaults and negotiation.
    func query(in target: RequestedTarget) throws(APIError) -> Request

    /// Parses the target of a request with an image as its body; called unless ``uploads`` is `none`.
    func uploadQuery(in target: RequestedTarget) throws(APIError) -> Request

    /// Returns the fallback image for a failed request; nil to use only ``response(to:)``.
    func fallbackImage(for target: RequestedTarget) -> FallbackImage?

    /// Returns the error response for one of the dialect's targets, with the dialect's own status and text.
    func response(to problem: Problem) -> HTTPResponse
}

package enum DialectSignatures: Sendable {
    case none
    /// There are keys, but unsigned targets are also served, by the operator's choice.
    case optional
    /// There are keys, and unsigned targets are rejected.
    case required
}

package enum DialectUploads: Hashable, Sendable {
    case none
    /// A field contains a signature that covers the body, and `Content-Type` declares its type.
    case signedBody
    /// The target is checked like any other; the body is an image or a form with a file in the field of this name.
    case signedTarget(field: ExactText)
}

extension Dialect {
    package var unsignedName: String { name }

    package func isSigned(_ target: RequestedTarget) -> Bool { signatures == .required }

    package var readinessPaths: [String] { [] }

    package func checkProbe(_ target: RequestedTarget) throws(APIError) {}

    package var uploads: DialectUploads { .none }

    package var takesImages: Bool { uploads != .none }

    package func uploadQuery(in target: RequestedTarget) throws(APIError) -> Request { throw .methodNotAllowed }

    package func fallbackImage(for target: RequestedTarget) -> FallbackImage? { nil }

    package func response(to problem: Problem) -> HTTPResponse { problem.response }
}

/// A dialect without signatures, at its own path.
package protocol UnsignedDialect: Dialect {
    var prefix: PathPrefix { get }
}

extension UnsignedDialect {
    package var signatures: DialectSignatures { .none }

    package func claim(on target: String) -> DialectClaim { prefix.claim(on: target) }

    package func isAuthentic(_ target: RequestedTarget) -> Bool { true }
}

/// How certainly a target belongs to a dialect.
package enum DialectClaim: Sendable {
    case none
    /// The target belongs to the dialect unless it is one of Alula's own routes: the claim of a dialect at `/`.
    case remainder
    /// The target belongs to the dialect, even if it is one of Alula's own routes.
    case certain
}

/// A dialect in which jobs can name a source and a rendition separately.
package protocol RenditionDialect: Dialect {
    func target(source: String, rendition: String) throws(APIError) -> String
}

/// The parts of a request that a dialect can access; only they determine the requested image.
///
/// Also the cache key of the parsed target, so parsing cannot depend on anything else.
package struct RequestedTarget: Hashable, Sendable {
    package let target: ExactText
    /// The request's `Accept`, which applies if the target does not fix the format.
    package let accept: ExactText?
    package private(set) var apiKey: ExactText?
    package var hints: ClientHints

    package init(_ target: String, accept: String? = nil, hints: ClientHints = ClientHints()) {
        self.target = ExactText(target)
        self.accept = accept.map { ExactText($0) }
        self.hints = hints
    }

    package init(_ request: HTTPRequest) {
        self.init(request.target, accept: request.headerFields[.accept])
        apiKey = request.headerFields[.apiKey].map { ExactText($0) }
    }
}
