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

    /// The name in the setting `unsignedDialects`.
    var unsignedName: String { get }

    /// Whether targets can or must be signed.
    ///
    /// A dialect without signatures is closed while another dialect has keys, unless `unsignedDialects` lists it.
    var signatures: DialectSignatures { get }

    /// Paths of the original's health checks; answered like `/health/ready`.
    var readinessPaths: [String] { get }

    /// Rejects a request for ``readinessPaths`` without the dialect's key.
    func checkProbe(_ target: RequestedTarget) throws(APIError)

    var uploads: DialectUploads { get }

    /// Called for each header that is not remembered, so it must be fast.
    func match(on target: String) -> DialectMatch

    /// Returns whether the signature is valid; called before the target is parsed.
    func isAuthentic(_ target: RequestedTarget) -> Bool

    func isSigned(_ target: RequestedTarget) -> Bool

    /// Returns the ID of the key that signs an authentic target; nil if the target is unsigned.
    func keyID(of target: RequestedTarget) -> String?

    /// Returns the ID of the key that a target names, even if the signature is not valid.
    func namedKeyID(of target: RequestedTarget) -> String?

    /// Returns the target for the log, without sources, signatures and keys.
    func loggedTarget(_ target: RequestedTarget) -> String

    /// Returns the source for the log, even of a rejected target.
    func loggedSource(_ target: RequestedTarget) -> String?

    func request(in target: RequestedTarget) throws(APIError) -> Request

    func uploadRequest(in target: RequestedTarget) throws(APIError) -> Request

    func fallbackImage(for target: RequestedTarget) -> FallbackImage?

    func response(to problem: Problem) -> HTTPResponse
}

package enum DialectSignatures: Sendable {
    case none
    /// The operator also allows unsigned targets.
    case optional
    case required
}

package enum DialectUploads: Hashable, Sendable {
    case none
    case signedBody
    /// The target is signed. The body is an image, or a form with a file in this field.
    case signedTarget(field: ExactText)
}

extension Dialect {
    package var unsignedName: String { name }

    package func isSigned(_ target: RequestedTarget) -> Bool { signatures == .required }

    /// Returns the ID of the only key; dialects with several keys number them from 1.
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

/// The configuration of a dialect with keys, of which settings name one.
package protocol KeyedConfiguration: Sendable {
    /// Several for rotation or of a tenant.
    var keys: [[UInt8]] { get set }
}

extension KeyedConfiguration {
    package var key: [UInt8]? {
        get { keys.first }
        set { keys = newValue.map { [$0] } ?? [] }
    }
}
