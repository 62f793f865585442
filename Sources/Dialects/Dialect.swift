package import HTTPTypes
package import Text

/// A grammar of request targets: one way to ask for images by URL.
///
/// A dialect decides by a ``RequestedTarget`` alone, of whose hints it notes those that it reads in
/// ``ThumbnailQuery/hintFields``, and always in the same way, because its decision is remembered: a target that comes
/// again is neither judged nor read a second time. Which hints it reads must not depend on their values. Called on
/// event threads; must not block.
package protocol Dialect: Sendable {
    /// The dialect's name: the value of `route` in metrics and log lines.
    var name: String { get }

    /// The name in the setting `unsignedDialects`, by which the dialect's keys close others as well.
    var unsignedName: String { get }

    /// Whether the dialect has signing keys of its own.
    ///
    /// A dialect that serves unsigned targets is closed while others have keys, unless the configuration names it: it
    /// must not open what their keys close.
    var signatures: DialectSignatures { get }

    /// The paths at which the other service says whether it is ready.
    ///
    /// Alula answers there as at `/health/ready`, so that probes may stay as they are.
    var probePaths: [String] { get }

    /// Judges a request for one of ``probePaths``.
    func judgeProbe(_ target: RequestedTarget) throws(APIError)

    /// How requests for targets of the dialect may bring images as their bodies.
    var uploads: DialectUploads { get }

    /// Whether a raw target belongs to the dialect.
    ///
    /// Asked for each request whose header was not recognized, so it must be cheap.
    func claim(on target: String) -> DialectClaim

    /// Whether the target may be read: it is signed as the dialect demands, or the dialect demands no signature.
    ///
    /// Judged before the target is read.
    func isAuthentic(_ target: RequestedTarget) -> Bool

    /// Whether an authentic target is one that a key of the dialect has signed.
    func isSigned(_ target: RequestedTarget) -> Bool

    /// The query that the target stands for, with the dialect's own defaults and negotiation.
    ///
    /// - Throws: ``APIError`` for the first thing that is wrong.
    func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery

    /// The query that the target of a request with an image as its body stands for; asked unless ``uploads`` are none.
    ///
    /// - Throws: ``APIError`` for the first thing that is wrong.
    func uploadQuery(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery

    /// The image that answers a failed request for a target; nil for ``response(to:)`` alone.
    func standIn(for target: RequestedTarget) -> StandIn?

    /// The answer to a failed request for one of the dialect's targets, with the dialect's own status and words.
    func response(to problem: Problem) -> HTTPResponse
}

/// Whether a dialect's targets are signed.
package enum DialectSignatures: Sendable {
    /// There are no keys.
    case none
    /// There are keys, and unsigned targets are served as well, because an operator says so.
    case offered
    /// There are keys, and unsigned targets are refused.
    case demanded
}

/// How requests bring images as their bodies.
package enum DialectUploads: Hashable, Sendable {
    /// Not at all.
    case none
    /// The signature is a field that covers the body, and `Content-Type` says what it is.
    case sealed
    /// The target is judged like any other; the bytes of the body say what it is, or it is a form with a file in the
    /// field of this name.
    case judged(field: ExactText)
}

extension Dialect {
    /// The dialect's name.
    package var unsignedName: String { name }

    /// Whether signatures are demanded.
    package func isSigned(_ target: RequestedTarget) -> Bool { signatures == .demanded }

    /// No paths.
    package var probePaths: [String] { [] }

    /// Anybody may probe.
    package func judgeProbe(_ target: RequestedTarget) throws(APIError) {}

    /// None.
    package var uploads: DialectUploads { .none }

    /// Whether requests may bring images as their bodies.
    package var takesImages: Bool { uploads != .none }

    /// Nothing is made of images here.
    package func uploadQuery(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery { throw .methodNotAllowed }

    /// None.
    package func standIn(for target: RequestedTarget) -> StandIn? { nil }

    /// The answer as Alula words it.
    package func response(to problem: Problem) -> HTTPResponse { problem.response }
}

/// A dialect that knows no signatures, at a place of its own.
package protocol UnsignedDialect: Dialect {
    var place: DialectPlace { get }
}

extension UnsignedDialect {
    /// None.
    package var signatures: DialectSignatures { .none }

    /// All targets at the dialect's place.
    package func claim(on target: String) -> DialectClaim { place.claim(on: target) }

    /// Every target may be served.
    package func isAuthentic(_ target: RequestedTarget) -> Bool { true }
}

/// How surely a target belongs to a dialect.
package enum DialectClaim: Sendable {
    /// The target does not belong to the dialect.
    case none
    /// The target belongs to the dialect unless it is one of Alula's own routes: the claim of a dialect at `/`.
    case remainder
    /// The target belongs to the dialect, even if it is one of Alula's own routes.
    case certain
}

/// A dialect in which a source and a rendition of it can be named separately, as jobs name them.
package protocol RenditionDialect: Dialect {
    /// The target for a rendition of `source`, in the dialect's one spelling of it.
    ///
    /// - Throws: ``APIError`` for the first thing that is wrong.
    func target(source: String, rendition: String) throws(APIError) -> String
}

/// The parts of a request that a dialect sees; they alone decide which image is requested.
///
/// Also the key under which the dialect's reading is remembered, so the reading cannot depend on anything else.
package struct RequestedTarget: Hashable, Sendable {
    /// The request target as received.
    package let target: ExactText
    /// The request's `Accept`, which counts if the target does not fix the format.
    package let accept: ExactText?
    /// The request's `API-Key`, by which a dialect may know its clients.
    package private(set) var apiKey: ExactText?
    /// The hints in the request's fields that count for the target.
    package var hints: ClientHints

    /// A target that came with `accept` and these hints.
    package init(_ target: String, accept: String? = nil, hints: ClientHints = ClientHints()) {
        self.target = ExactText(target)
        self.accept = accept.map { ExactText($0) }
        self.hints = hints
    }

    /// The target of `request`, without hints.
    package init(_ request: HTTPRequest) {
        self.init(request.target, accept: request.headerFields[.accept])
        apiKey = request.headerFields[.apiKey].map { ExactText($0) }
    }
}
