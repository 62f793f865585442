/// What the edge of the service can be told.
package struct APIConfiguration: Sendable {
    /// Keys that a thumbnail's URL may be signed with, several for rotation; with none, unsigned requests are served.
    package var signingKeys: [[UInt8]] = []
    /// The dialects beside Alula's own, in the order in which they are asked whether a target is theirs.
    package var otherDialects: [any Dialect] = []
    /// Value of `Access-Control-Allow-Origin` on public answers; nil for no such field.
    package var allowOrigin: String?
    /// Whether a client's `Cache-Control` counts; strangers could force origin fetches with it.
    package var honoursClientCacheControl = false
    /// Longest time from a request's head to its answer, queueing included.
    package var requestTimeout: Duration = .seconds(15)
    /// Whether each request leaves a line in the log; failures that need an explanation leave one anyway.
    package var accessLog = true
    /// Whom the operators' listener answers.
    package var operatorSites = OperatorSites()
    /// The service's own version, for operators.
    package var version = "0"

    /// The defaults of the contract.
    package init() {}

    /// Alula's own dialect with the keys of this configuration.
    package var nativeDialect: NativeDialect { NativeDialect(signingKeys: signingKeys) }
}
