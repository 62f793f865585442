package import HTTPTypes
package import Text
package import ThumbnailTypes

/// A way to request images by URL.
///
/// A dialect's decision must depend only on a ``RequestedTarget``, whose used hints it records in
/// ``Request/hintFields``, and must be deterministic, because it is cached: a repeated target is neither checked nor
/// parsed again. Which hints it uses must not depend on their values. Called on event threads; must not block.
package protocol Dialect: Sendable {
    /// The value of `route` in metrics and log lines.
    var name: String { get }

    /// The name in the setting `unsignedDialects`; the dialect's keys close others under it.
    var unsignedName: String { get }

    /// A dialect that serves unsigned targets is closed while others have keys, unless the configuration names it: it
    /// must not open what their keys close.
    var signatures: DialectSignatures { get }

    /// Alula answers at the other service's paths as at `/health/ready`, so that existing probes work.
    var readinessPaths: [String] { get }

    func checkProbe(_ target: RequestedTarget) throws(APIError)

    var uploads: DialectUploads { get }

    /// Called for each request whose header is new, so it must be cheap.
    func match(on target: String) -> DialectMatch

    /// Checked before the target is parsed.
    func isAuthentic(_ target: RequestedTarget) -> Bool

    func isSigned(_ target: RequestedTarget) -> Bool

    /// The ID of the key that signs an authentic target; nil if none does.
    func keyID(of target: RequestedTarget) -> String?

    /// The ID of the key that a target names, whether or not it signs it.
    func namedKeyID(of target: RequestedTarget) -> String?

    /// The target for the log, without sources, signatures and keys.
    func loggedTarget(_ target: RequestedTarget) -> String

    /// The source for the log, even of a rejected target.
    func loggedSource(_ target: RequestedTarget) -> String?

    func request(in target: RequestedTarget) throws(APIError) -> Request

    func uploadRequest(in target: RequestedTarget) throws(APIError) -> Request

    func fallbackImage(for target: RequestedTarget) -> FallbackImage?

    func response(to problem: Problem) -> HTTPResponse
}

package enum DialectSignatures: Sendable {
    case none
    /// Unsigned targets are also served, by the operator's choice.
    case optional
    case required
}

package enum DialectUploads: Hashable, Sendable {
    case none
    case signedBody
    /// The body is an image or a form with a file in this field.
    case signedTarget(field: ExactText)
}

extension Dialect {
    package var unsignedName: String { name }

    package func isSigned(_ target: RequestedTarget) -> Bool { signatures == .required }

    /// The only key; a dialect with several numbers them from 1.
    package func keyID(of target: RequestedTarget) -> String? {
        signatures != .none && isSigned(target) && isAuthentic(target) ? "1" : nil
    }

    package func namedKeyID(of target: RequestedTarget) -> String? { nil }

    package func loggedTarget(_ target: RequestedTarget) -> String { LoggedTarget.query(target.target.string) }

    package func loggedSource(_ target: RequestedTarget) -> String? {
        LoggedTarget.source(inQuery: target.target.string)
    }

    package var readinessPaths: [String] { [] }

    package func checkProbe(_ target: RequestedTarget) throws(APIError) {}

    package var uploads: DialectUploads { .none }

    package var takesImages: Bool { uploads != .none }

    package func uploadRequest(in target: RequestedTarget) throws(APIError) -> Request { throw .methodNotAllowed }

    package func fallbackImage(for target: RequestedTarget) -> FallbackImage? { nil }

    package func response(to problem: Problem) -> HTTPResponse { problem.response }
}

package protocol UnsignedDialect: Dialect {
    var prefix: PathPrefix { get }
}

extension UnsignedDialect {
    package var signatures: DialectSignatures { .none }

    package func match(on target: String) -> DialectMatch { prefix.match(on: target) }

    package func isAuthentic(_ target: RequestedTarget) -> Bool { true }
}

package enum DialectMatch: Sendable {
    case none
    /// Serves targets that are not native routes, as a dialect at `/` does.
    case fallback
    /// Serves the target even if it is a native route.
    case exact
}

package protocol RenditionDialect: Dialect {
    func target(source: String, rendition: String) throws(APIError) -> String
}
