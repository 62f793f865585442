package import HTTPTypes
package import Text

/// A named origin: a place in the settings, with the fields that are sent to it and its trust.
package struct Origin: Sendable {
    /// The place of its sources.
    package enum Place: Sendable, Hashable {
        /// Sources below this URL.
        case web(base: SourceURL)
        /// In this folder of the machine.
        case folder(path: String)
        /// In memory: the bytes of the one file that ``Origin/onlyFile`` names.
        case memory([UInt8])
    }

    /// Its name in `NAME:PATH`.
    package let name: String
    /// The place of its sources.
    package let place: Place
    /// Fields that replace ours of the same name or are sent besides; nil leaves one of ours out.
    package var fields: [(name: HTTPField.Name, value: Secret?)] = []
    /// The credentials that are sent to it.
    package var credentials: OriginCredentials?
    /// The proof that a TLS server must give besides a valid certificate.
    package var tlsPolicy = TLSPolicy.none
    /// A file of certificate authorities in PEM instead of the system's.
    package var certificateAuthorities: String?
    /// Limits of its own.
    package var limits = OriginLimits()
    /// Names of query parameters that are ignored in a source's identity.
    package var ignoredParameters: Set<ExactText> = []
    /// Whether requests to it carry their place in a trace, as `traceparent`.
    package var tellsTraces = false
    /// Whether the service may put things there: into a folder, or a store that takes signed requests.
    package var isWritable = false
    /// The value of `Cache-Control` of what is put there; nil for that of the results.
    package var cacheControl: String?
    /// The only file of a folder that can be asked for; nil for all of them.
    package var onlyFile: ExactText?

    /// An origin of this name and place, with our own fields and limits.
    package init(name: String, place: Place) {
        self.name = name
        self.place = place
    }

    /// Where its requests go; nil for a place on this machine.
    var baseOrigin: OriginKey? {
        if case .web(let base) = place { base.origin } else { nil }
    }

    /// Whether its host, port and scheme are those of `url`.
    func contains(_ url: SourceURL) -> Bool {
        baseOrigin == url.origin
    }
}

/// Limits of one origin; nil if the general one holds.
package struct OriginLimits: Sendable {
    /// Overrides ``DownloadConfiguration/connectTimeout``; nil for no override.
    package var connectTimeout: Duration?
    /// Overrides ``DownloadConfiguration/firstByteTimeout``; nil for no override.
    package var firstByteTimeout: Duration?
    /// Overrides ``DownloadConfiguration/downloadTimeout``; nil for no override.
    package var downloadTimeout: Duration?
    /// Overrides ``DownloadConfiguration/maximumBytes``; nil for no override.
    package var maximumBytes: Int?
    /// Overrides ``DownloadConfiguration/maximumRedirects``; nil for no override.
    package var maximumRedirects: Int?
    /// Running transfers to its host and port.
    package var maximumActiveDownloads: Int?

    /// No limits of its own.
    package init() {}
}
