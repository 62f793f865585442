package import HTTPTypes
package import Text

package struct Origin: Sendable {
    package enum Location: Sendable, Hashable {
        case web(base: SourceURL)
        case folder(path: String)
        /// The bytes of the single file named by ``Origin/onlyFile``, in memory.
        case memory([UInt8])
    }

    package let name: String
    package let location: Location
    /// Added to our fields, or replacing ours of the same name; nil omits one of ours.
    package var fields: [(name: HTTPField.Name, value: Secret?)] = []
    package var credentials: OriginCredentials?
    /// Requirements for its TLS server besides a valid certificate.
    package var tlsPolicy = TLSPolicy.none
    /// A PEM file of certificate authorities; nil for the default.
    package var certificateAuthorities: String?
    package var limits = OriginLimits()
    /// Query parameters ignored in a source's identity.
    package var ignoredParameters: Set<ExactText> = []
    package var propagatesTraces = false
    package var isWritable = false
    /// The `Cache-Control` of stored objects; nil uses the results'.
    package var cacheControl: String?
    /// The only accessible file of a folder; nil for all files.
    package var onlyFile: ExactText?

    package init(name: String, location: Location) {
        self.name = name
        self.location = location
    }

    var baseOrigin: OriginKey? {
        if case .web(let base) = location { base.origin } else { nil }
    }

    func contains(_ url: SourceURL) -> Bool {
        baseOrigin == url.origin
    }
}

package struct OriginLimits: Sendable {
    package var connectTimeout: Duration?
    package var firstByteTimeout: Duration?
    package var downloadTimeout: Duration?
    package var maximumBytes: Int?
    package var maximumRedirects: Int?
    package var maximumActiveDownloads: Int?

    package init() {}
}
