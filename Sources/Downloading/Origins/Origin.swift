package import HTTPTypes
package import Text

/// A named origin: a place in the settings, with its request fields and its trust.
package struct Origin: Sendable {
    package enum Place: Sendable, Hashable {
        case web(base: SourceURL)
        case folder(path: String)
        /// The bytes of the single file named by ``Origin/onlyFile``, in memory.
        case memory([UInt8])
    }

    package let name: String
    package let place: Place
    /// Fields added to ours or replacing ours of the same name; nil omits one of ours.
    package var fields: [(name: HTTPField.Name, value: Secret?)] = []
    package var credentials: OriginCredentials?
    /// Requirements for its TLS server besides a valid certificate.
    package var tlsPolicy = TLSPolicy.none
    /// A PEM file of certificate authorities; nil for the default.
    package var certificateAuthorities: String?
    package var limits = OriginLimits()
    /// Query parameters ignored in a source's identity.
    package var ignoredParameters: Set<ExactText> = []
    /// Whether requests to it propagate their trace context, as `traceparent`.
    package var propagatesTraces = false
    /// Whether the service may write there: to a folder, or a store that accepts signed requests.
    package var isWritable = false
    /// The `Cache-Control` of stored objects; nil uses the results'.
    package var cacheControl: String?
    /// The only accessible file of a folder; nil for all files.
    package var onlyFile: ExactText?

    package init(name: String, place: Place) {
        self.name = name
        self.place = place
    }

    var baseOrigin: OriginKey? {
        if case .web(let base) = place { base.origin } else { nil }
    }

    func contains(_ url: SourceURL) -> Bool {
        baseOrigin == url.origin
    }
}

package struct OriginLimits: Sendable {
    /// Overrides ``DownloadConfiguration/connectTimeout``.
    package var connectTimeout: Duration?
    /// Overrides ``DownloadConfiguration/firstByteTimeout``.
    package var firstByteTimeout: Duration?
    /// Overrides ``DownloadConfiguration/downloadTimeout``.
    package var downloadTimeout: Duration?
    /// Overrides ``DownloadConfiguration/maximumBytes``.
    package var maximumBytes: Int?
    /// Overrides ``DownloadConfiguration/maximumRedirects``.
    package var maximumRedirects: Int?
    /// The maximum number of concurrent transfers to its host and port.
    package var maximumActiveDownloads: Int?

    package init() {}
}
