package import Dialects
import HTTPTypes
package import Text

/// The requests that may name tags.
package enum TagNaming: String, Sendable, CaseIterable {
    /// All.
    case any
    /// Those that are signed; presets may name tags for the others.
    case signed
}

/// The settings of both listeners' routes.
package struct APIConfiguration: Sendable {
    /// Keys with which targets may be signed, several for rotation; without keys, unsigned requests are served.
    package var signingKeys: [[UInt8]] = []
    /// The watermarks and presets that targets of Alula's own dialect may name.
    package var vocabulary = Vocabulary()
    /// The quality of results for clients that save data if nothing names one and that is lower; nil for no such bound.
    package var saveDataQuality: Int?
    /// The dialects besides Alula's own, in the order in which they are asked whether a target belongs to them.
    package var otherDialects: [any Dialect] = []
    /// Names of dialects whose unsigned targets are served although there are keys or bounds of other dialects.
    package var unsignedDialects: Set<ExactText> = []
    /// Names of dialects whose keys or bounds close others, besides those of ``otherDialects`` that have keys: of
    /// dialects without a place, and of those that an operator has bound in ways that others could not keep.
    package var closingDialects: Set<ExactText> = []
    /// Whether clients may send images.
    package var takesUploads = false
    /// Most bytes of an image that a client sends.
    package var maximumUploadBytes = 64 << 20
    /// Most renditions of one call.
    package var maximumRenditions = 64
    /// The source that the page shows before the user names one; nil for none.
    package var sampleSource: String?
    /// The value of `Access-Control-Allow-Origin` in public answers; nil for no such field.
    package var allowOrigin: String?
    /// The field that tells the tags of answers; nil for none.
    package var cacheTagField: CacheTagField?
    /// Who may name tags; nil for signed requests if there are keys, else for all.
    package var tags: TagNaming?
    /// Whether a client's `Cache-Control` counts; if it does, any client can force fetches from origins.
    package var honoursClientCacheControl = false
    /// Longest time from a request's header to its answer, including waits in queues.
    package var requestTimeout: Duration = .seconds(15)
    /// Whether each request is logged; failures that need an explanation always are.
    package var accessLog = true
    /// The proxies in front of the service.
    package var trustedProxies = TrustedProxies()
    /// Most requests under way that trusted proxies pass on for one client; nil for no such limit.
    package var maximumRequestsPerClient: Int?
    /// The service's name in `CDN-Loop` (RFC 8586): requests for images with it are refused; nil for none.
    package var loopName: String?
    /// The names that the operators' listener has, and the sites that may write to it.
    package var operatorSites = OperatorSites()
    /// Whether clients learn which rule refused a source; only for a service without strangers.
    package var tellsRules = false
    /// The version of the service, for operators.
    package var version = "0"

    package init() {}

    /// The bounds on what clients ask for.
    var clientPolicy: ClientPolicy {
        let defaultTags: TagNaming = dialects.allSatisfy { $0.signatures == .none } ? .any : .signed
        return ClientPolicy(
            vocabulary.sizes, saveDataQuality: saveDataQuality, takesUnsignedTags: (tags ?? defaultTags) == .any)
    }

    /// Reads a query about a source that stands elsewhere, which a client's request with these fields brings.
    ///
    /// Requests with bodies are signed if there are keys.
    func rendition(_ rendition: String, of source: String, _ fields: HTTPFields) throws(APIError) -> ThumbnailQuery {
        let hints = ClientHints(fields)
        let query = try nativeDialect.rendition(rendition, of: source, accept: fields[.accept], hints: hints)
        return try clientPolicy.allowed(query, isSigned: !signingKeys.isEmpty, hints)
    }

    /// All dialects; Alula's own come last, because an operator may give their paths to others.
    var dialects: [any Dialect] {
        otherDialects + [nativeDialect, InfoDialect(signingKeys: signingKeys, vocabulary: vocabulary)]
    }

    /// Whether the targets of `dialect` may be served: it demands signatures itself, no other dialect has keys, or it
    /// is named.
    func isOpen(_ dialect: any Dialect) -> Bool {
        let name = ExactText(dialect.unsignedName)
        return dialect.signatures == .demanded || unsignedDialects.contains(name) || closers.subtracting([name]).isEmpty
    }

    /// Names of the dialects that are refused because of others, sorted.
    package var closedDialects: [String] {
        Set(dialects.filter { !isOpen($0) }.map(\.unsignedName)).sorted()
    }

    private var closers: Set<ExactText> {
        closingDialects.union(dialects.filter { $0.signatures != .none }.map { ExactText($0.unsignedName) })
    }

    /// Alula's own dialect with the keys of this configuration.
    package var nativeDialect: NativeDialect {
        NativeDialect(signingKeys: signingKeys, vocabulary: vocabulary)
    }
}
