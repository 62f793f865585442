import Crypto
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
    /// The fields of clients that it receives.
    package var forwarded: [ForwardedField] = []
    package var credentials: OriginCredentials?
    package var tlsPolicy = TLSPolicy.none
    /// A PEM file of certificate authorities; nil for the default.
    package var certificateAuthorities: String?
    package var clientCertificate: ClientCertificate?
    /// An HTTP proxy; nil for direct connections.
    package var proxy: SourceURL?
    package var limits = OriginLimits()
    package var expectation = OriginExpectation()
    package var cachePolicy = OriginCachePolicy.all
    /// The largest decoded image that is kept, in bytes; nil for the cache's own limit.
    package var largestDecodedKept: Int?
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

    var baseOrigin: OriginKey? { if case .web(let base) = location { base.origin } else { nil } }

    var key: OriginKey { baseOrigin ?? OriginKey(folder: name) }

    func contains(_ url: SourceURL) -> Bool { baseOrigin == url.origin }
}

/// PEM files, which libcurl reads at each handshake.
package struct ClientCertificate: Hashable, Sendable {
    /// The certificate, with any intermediate authorities after it.
    package let file: String
    package let keyFile: String

    package init(file: String, keyFile: String) { (self.file, self.keyFile) = (file, keyFile) }
}

package struct OriginLimits: Hashable, Sendable {
    package var connectTimeout: Duration?
    package var firstByteTimeout: Duration?
    package var downloadTimeout: Duration?
    package var maximumBytes: Int?
    package var maximumRedirects: Int?
    package var maximumActiveDownloads: Int?

    package init() {}
}

package struct OriginKey: Hashable, Sendable, CustomStringConvertible {
    package let scheme: String
    package let host: String
    package let port: Int

    init(folder name: String) { (scheme, host, port) = (SourceURL.folderScheme, name, 0) }

    init(scheme: String, host: String, port: Int) { (self.scheme, self.host, self.port) = (scheme, host, port) }

    package var description: String {
        if scheme == SourceURL.folderScheme { return "\(host):" }
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

extension SourceURL {
    package var origin: OriginKey { OriginKey(scheme: scheme, host: host, port: port) }
}

/// Requirements for a TLS server besides a valid certificate for its host name.
package enum TLSPolicy: Sendable, Hashable {
    case none
    /// One of these certificates anywhere in the verified chain; an empty set rejects all.
    case certificate(Set<Pin>)
    /// One of these public keys anywhere in the verified chain; an empty set rejects all.
    case publicKey(Set<Pin>)

    /// The SHA-256 of a certificate, or of a certificate's public key (RFC 7469 section 2.4).
    package struct Pin: Sendable, Hashable {
        package let digest: [UInt8]

        package init(der: [UInt8]) { digest = unsafe SHA256.hash(der.span.bytes).bytes }

        /// Parses `sha256/` and the digest in base64; nil for anything else.
        package init?(_ text: String) {
            let prefix = "sha256/"
            guard text.hasPrefix(prefix), let digest = Base64.decode(text.dropFirst(prefix.count)), digest.count == 32
            else { return nil }
            self.digest = digest
        }
    }
}
