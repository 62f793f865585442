package import Dialects
package import Downloading
import HTTPTypes
package import Text
package import ThumbnailTypes

package enum TagNaming: String, Sendable, CaseIterable {
    case any
    /// Signed requests; for others, presets may name tags.
    case signed
}

package struct APIConfiguration: Sendable {
    /// The keys, several for rotation; without any, unsigned requests are served.
    package var signingKeys: [[UInt8]] = []
    /// The tenant's keys; nil in a service without tenants.
    package var namedKeys: [SigningKeys.Key]?
    package var tenant: ExactText = "default"
    package var showsCosts = false
    /// The names of tenants' keys for other dialects, in the order of the keys.
    package var keyIDs: [ExactText: [ExactText]] = [:]
    package var vocabulary = Vocabulary()
    /// The quality for clients that save data, if they request none and it is lower.
    package var saveDataQuality: Int?
    package var otherDialects: [any Dialect] = []
    /// Dialects whose unsigned targets are served although other dialects have keys or restrictions.
    package var unsignedDialects: Set<ExactText> = []
    /// Disabled dialects with keys, and those with restrictions that others could bypass; ``otherDialects`` with keys
    /// always close others.
    package var closingDialects: Set<ExactText> = []
    package var takesUploads = false
    package var maximumUploadBytes = 64 << 20
    /// The tenant's limits.
    package var requestLimits = RequestLimits()
    package var maximumRenditions = 64
    package var sampleSource: String?
    package var allowOrigin: String?
    /// Whether named origins receive fields of clients.
    package var forwardsFields = false
    package var cacheTagField: CacheTagField?
    /// Nil for signed requests if there are keys, otherwise for all.
    package var tags: TagNaming?
    /// Lets any client force fetches from origins.
    package var honorsClientCacheControl = false
    /// The time from a request's header to its response, including waits in queues.
    package var requestTimeout: Duration = .seconds(15)
    /// Failures that need an explanation are always logged.
    package var accessLog = AccessLogChoice.on
    package var trustedProxies = TrustedProxies()
    /// Pending requests through trusted proxies; nil for no limit.
    package var maximumRequestsPerClient: Int?
    /// The name in `CDN-Loop` (RFC 8586), by which the service rejects its own image requests.
    package var loopName: String?
    package var adminSites = AdminSites()
    /// Required from requests to the admin listener.
    package var adminToken: Secret?
    /// Whether errors name the rule that rejects a source; only for a service without public clients.
    package var revealsRules = false
    package var version = "0"

    package init() {}

    var clientPolicy: ClientPolicy {
        let defaultTags: TagNaming = dialects.allSatisfy { $0.signatures == .none } ? .any : .signed
        return ClientPolicy(
            vocabulary.sizes, saveDataQuality: saveDataQuality, takesUnsignedTags: (tags ?? defaultTags) == .any,
            limits: requestLimits)
    }

    func rendition(_ rendition: String, of source: String, _ fields: HTTPFields) throws(APIError) -> Request {
        let hints = ClientHints(fields)
        let query = try nativeDialect.rendition(rendition, of: source, accept: fields[.accept], hints: hints)
        return try clientPolicy.allowed(query, isSigned: !keys.isEmpty, hints)
    }

    /// Alula's own come last, because an operator may assign their paths to others.
    var dialects: [any Dialect] { otherDialects + [nativeDialect, InfoDialect(keys, vocabulary: vocabulary)] }

    /// Whether it requires signatures, no other dialect has keys, or the operator opened it.
    func isOpen(_ dialect: any Dialect) -> Bool {
        let name = ExactText(dialect.unsignedName)
        return dialect.signatures == .required || unsignedDialects.contains(name) || closers.subtracting([name]).isEmpty
    }

    /// The dialects that are closed because of others, sorted.
    package var closedDialects: [String] { Set(dialects.filter { !isOpen($0) }.map(\.unsignedName)).sorted() }

    private var closers: Set<ExactText> {
        closingDialects.union(dialects.filter { $0.signatures != .none }.map { ExactText($0.unsignedName) })
    }

    package var nativeDialect: NativeDialect { NativeDialect(keys, vocabulary: vocabulary) }

    var keys: SigningKeys { SigningKeys(signingKeys, named: namedKeys) }
}

/// Failures that need an explanation are logged in any case.
package enum AccessLogChoice: String, Sendable, CaseIterable {
    case on, off
    /// Responses with status 400 and above.
    case errors
}
