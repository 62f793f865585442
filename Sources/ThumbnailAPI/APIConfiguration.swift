package import Text

/// The settings of both listeners' routes.
package struct APIConfiguration: Sendable {
    /// Keys with which targets may be signed, several for rotation; without keys, unsigned requests are served.
    package var signingKeys: [[UInt8]] = []
    /// The watermarks and presets that targets of Alula's own dialect may name.
    package var vocabulary = Vocabulary()
    /// The dialects besides Alula's own, in the order in which they are asked whether a target belongs to them.
    package var otherDialects: [any Dialect] = []
    /// Names of dialects that are served without keys of their own although there are ``signingKeys``.
    package var unsignedDialects: Set<ExactText> = []
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
    /// The names that the operators' listener has, and the sites that may write to it.
    package var operatorSites = OperatorSites()
    /// The version of the service, for operators.
    package var version = "0"

    /// The default settings.
    package init() {}

    /// All dialects, Alula's own first.
    var dialects: [any Dialect] { [nativeDialect, InfoDialect(signingKeys: signingKeys)] + otherDialects }

    /// Whether the targets of `dialect` may be served: it demands signatures, or none are demanded of it.
    func isOpen(_ dialect: any Dialect) -> Bool {
        signingKeys.isEmpty || dialect.hasSigningKeys || unsignedDialects.contains(ExactText(dialect.name))
    }

    /// Alula's own dialect with the keys of this configuration.
    package var nativeDialect: NativeDialect {
        NativeDialect(signingKeys: signingKeys, vocabulary: vocabulary)
    }
}
