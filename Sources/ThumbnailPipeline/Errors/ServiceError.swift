package import HTTPTypes

/// A failure with a message for the client and details for the log.
///
/// Each module's errors conform in this folder, so that Imaging needs no HTTP and the responder no switch.
package protocol ServiceError: Error {
    var status: HTTPResponse.Status { get }
    /// The stable machine-readable code of the contract.
    var code: String { get }
    /// A sentence for the client: no address, library message or path of the server.
    var publicMessage: String { get }
    /// Details for the log only; nil when `publicMessage` says all.
    var logDetail: String? { get }
    /// Where the fault lies: a bounded label.
    var category: ErrorCategory { get }
    /// The offending parameter of the request.
    var parameter: String? { get }
    /// The values that the offending parameter may have, if they are a closed list.
    var allowed: [String] { get }
    /// The known name that the offending one is nearest to.
    var nearest: String? { get }
    /// The status that the source's origin answered with.
    var upstreamStatus: Int? { get }
    /// Seconds after which trying again makes sense.
    var retryAfter: Int? { get }
}

/// Where the fault of a failure lies.
package enum ErrorCategory: String, Sendable {
    case request, policy, origin, image, overload, timeout, cancelled, `internal`
}

extension ServiceError {
    /// ``publicMessage``, but of a refused source the rule that refuses it: for those who make the rules.
    package var operatorMessage: String {
        guard code == "source_not_allowed", let rule = logDetail else { return publicMessage }
        return "The source is not fetched: \(rule)."
    }

    package var logDetail: String? { nil }
    package var parameter: String? { nil }
    package var allowed: [String] { [] }
    package var nearest: String? { nil }
    package var upstreamStatus: Int? { nil }
    package var retryAfter: Int? { nil }
}
