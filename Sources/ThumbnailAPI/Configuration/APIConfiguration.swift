package import Dialects
package import Downloading
import HTTPTypes
package import Text
package import ThumbnailTypes

package enum TagNaming: String, Sendable, CaseIterable {
    case any
    /// Only signed requests and presets may name tags.
    case signed
}

package struct APIConfiguration: Sendable {
    /// The service's keys, several for rotation; if empty, unsigned requests are served.
    package var signingKeys: [[UInt8]] = []
    /// The tenant's keys; nil in a service without tenants.
    package var namedKeys: [SigningKeys.Key]?
    package var tenant: ExactText = "default"
    package var showsCosts = false
    /// The names of tenants' keys for other dialects, in the order of the keys.
    package var keyIDs: [ExactText: [ExactText]] = [:]
    package var vocabulary = Vocabulary()
    /// The quality for clients that save data, if they request none; ignored if the default is lower.
    package var saveDataQuality: Int?
    package var otherDialects: [any Dialect] = []
    /// Dialects that serve unsigned targets although other dialects have keys or limits.
    package var unsignedDialects: Set<ExactText> = []
    /// Disabled dialects with keys, and dialects with limits that other dialects could bypass.
    ///
    /// These close others, as ``otherDialects`` with keys always do.
    package var closingDialects: Set<ExactText> = []
    package var takesUploads = false
    package var maximumUploadBytes = 64 << 20
    package var requestLimits = RequestLimits()
    package var maximumRenditions = 64
    package var sampleSource: String?
    package var allowOrigin: String?
    /// Whether named origins receive request fields of clients.
    package var forwardsFields = false
    package var cacheTagField: CacheTagField?
    /// Who may name tags; nil means all clients without keys, and signed requests with keys.
    package var tags: TagNaming?
    /// Honors clients' `Cache-Control`; any client can then force fetches.
    package var honorsClientCacheControl = false
    /// The time from a request's header to its response, including waits in queues.
    package var requestTimeout: Duration = .seconds(15)
    /// The requests to log; internal errors and errors with details are always logged.
    package var accessLog = AccessLogChoice.on
    package var trustedProxies = TrustedProxies()
    /// The maximum pending requests of a client behind trusted proxies; nil means no limit.
    package var maximumRequestsPerClient: Int?
    /// The name in `CDN-Loop` (RFC 8586); the service rejects image requests that carry it.
    package var loopName: String?
    package var adminSites = AdminSites()
    /// The token that requests to the admin listener require.
    package var adminToken: Secret?
    /// Whether errors name the rule that rejects a source; only safe without public clients.
    package var revealsRules = false
    package var version = "0"

    package init() {}

    var clientPolicy: ClientPolicy {
        let defaultTags: TagNaming = dialects.allSatisfy { $0.signatures == .none } ? .any : .signed
        return ClientPolicy(
            vocabulary.sizes, saveDataQuality: saveDataQuality, takesUnsignedTags: (tags ?? defaultTags) == .any,
            limits: requestLimits)
    }

    func rendition(_ rendition: String, of source: String, fields: HTTPFields) throws(APIError) -> Request {
        let hints = ClientHints(fields)
        let request = try nativeDialect.rendition(rendition, of: source, accept: fields[.accept], hints: hints)
        return try clientPolicy.allowed(request, isSigned: !keys.isEmpty, hints: hints)
    }

    /// All dialects; Alula's come last, because an operator may assign their paths to others.
    var dialects: [any Dialect] { otherDialects + [nativeDialect, InfoDialect(keys, vocabulary: vocabulary)] }

    /// Whether the dialect requires signatures, no other dialect closes it, or the operator opened it.
    func isOpen(_ dialect: any Dialect) -> Bool {
        let name = ExactText(dialect.unsignedName)
        return dialect.signatures == .required || unsignedDialects.contains(name) || closers.subtracting([name]).isEmpty
    }

    /// The dialects that other dialects close, sorted.
    package var closedDialects: [String] { Set(dialects.filter { !isOpen($0) }.map(\.unsignedName)).sorted() }

    private var closers: Set<ExactText> {
        closingDialects.union(dialects.filter { $0.signatures != .none }.map { ExactText($0.unsignedName) })
    }

    package var nativeDialect: NativeDialect { NativeDialect(keys, vocabulary: vocabulary) }

    var keys: SigningKeys { SigningKeys(signingKeys, named: namedKeys) }
}

/// The requests to log; internal errors and errors with details are always logged.
package enum AccessLogChoice: String, Sendable, CaseIterable {
    case on, off
    /// Responses with status 400 and above.
    case errors
}
