package import Dialects
import HTTPTypes
package import Text
import ThumbnailTypes

package enum TagNaming: String, Sendable, CaseIterable {
    case any
    /// Signed requests; for others, presets may name tags.
    case signed
}

package struct APIConfiguration: Sendable {
    /// Keys for signed targets, several for rotation; without keys, unsigned requests are served.
    package var signingKeys: [[UInt8]] = []
    package var vocabulary = Vocabulary()
    /// The quality for clients that save data, if no quality is given and it is lower; nil for none.
    package var saveDataQuality: Int?
    /// The dialects besides Alula's own, in order of precedence.
    package var otherDialects: [any Dialect] = []
    /// Names of dialects whose unsigned targets are served although other dialects have keys or restrictions.
    package var unsignedDialects: Set<ExactText> = []
    /// Names of additional dialects whose keys or restrictions close others: disabled ones, and those with restrictions
    /// that others could bypass.
    ///
    /// ``otherDialects`` with keys always close others.
    package var closingDialects: Set<ExactText> = []
    package var takesUploads = false
    package var maximumUploadBytes = 64 << 20
    package var maximumRenditions = 64
    /// The source that the page shows first; nil for none.
    package var sampleSource: String?
    /// The value of `Access-Control-Allow-Origin` in public responses; nil for no such field.
    package var allowOrigin: String?
    /// The response field for cache tags; nil for none.
    package var cacheTagField: CacheTagField?
    /// Who may name tags; nil for signed requests if there are keys, otherwise for all.
    package var tags: TagNaming?
    /// Whether a client's `Cache-Control` is respected, which lets any client force fetches from origins.
    package var honorsClientCacheControl = false
    /// Maximum time from a request's header to its response, including waits in queues.
    package var requestTimeout: Duration = .seconds(15)
    /// Whether each request is logged; failures that need an explanation always are.
    package var accessLog = true
    package var trustedProxies = TrustedProxies()
    /// Maximum number of pending requests of one client through trusted proxies; nil for no limit.
    package var maximumRequestsPerClient: Int?
    /// The service's name in `CDN-Loop` (RFC 8586), which rejects its own image requests; nil for none.
    package var loopName: String?
    package var adminSites = AdminSites()
    /// Whether clients learn which rule rejected a source; only for a service without public clients.
    package var revealsRules = false
    package var version = "0"

    package init() {}

    var clientPolicy: ClientPolicy {
        let defaultTags: TagNaming = dialects.allSatisfy { $0.signatures == .none } ? .any : .signed
        return ClientPolicy(
            vocabulary.sizes, saveDataQuality: saveDataQuality, takesUnsignedTags: (tags ?? defaultTags) == .any)
    }

    /// Reads a query for a named source in the body of a client's request with these fields.
    ///
    /// Requests with bodies are signed if there are keys.
    func rendition(_ rendition: String, of source: String, _ fields: HTTPFields) throws(APIError) -> Request {
        let hints = ClientHints(fields)
        let query = try nativeDialect.rendition(rendition, of: source, accept: fields[.accept], hints: hints)
        return try clientPolicy.allowed(query, isSigned: !signingKeys.isEmpty, hints)
    }

    /// All dialects; Alula's own come last, because an operator may assign their paths to others.
    var dialects: [any Dialect] {
        otherDialects + [nativeDialect, InfoDialect(signingKeys: signingKeys, vocabulary: vocabulary)]
    }

    /// Returns whether targets of `dialect` may be served: it requires signatures, no other dialect has keys, or the
    /// operator opened it.
    func isOpen(_ dialect: any Dialect) -> Bool {
        let name = ExactText(dialect.unsignedName)
        return dialect.signatures == .required || unsignedDialects.contains(name) || closers.subtracting([name]).isEmpty
    }

    /// Names of the dialects that are closed because of others, sorted.
    package var closedDialects: [String] {
        Set(dialects.filter { !isOpen($0) }.map(\.unsignedName)).sorted()
    }

    private var closers: Set<ExactText> {
        closingDialects.union(dialects.filter { $0.signatures != .none }.map { ExactText($0.unsignedName) })
    }

    package var nativeDialect: NativeDialect {
        NativeDialect(signingKeys: signingKeys, vocabulary: vocabulary)
    }
}
