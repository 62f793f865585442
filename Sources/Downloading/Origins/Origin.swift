import Crypto
package import HTTPTypes
package import Text

package struct Origin: Sendable {
    package enum Location: Sendable, Hashable {
        case web(base: SourceURL)
        case folder(path: String)
        /// The content of ``Origin/onlyFile`` in memory.
        case memory([UInt8])
    }

    package let name: String
    package let location: Location
    /// Fields that are added or replace our own; a nil value removes our own.
    package var fields: [(name: HTTPField.Name, value: Secret?)] = []
    /// Client fields that are forwarded.
    package var forwarded: [ForwardedField] = []
    package var credentials: OriginCredentials?
    package var tlsPolicy = TLSPolicy.none
    /// A PEM file of certificate authorities; nil uses the service's.
    package var certificateAuthorities: String?
    package var clientCertificate: ClientCertificate?
    /// An HTTP proxy; nil connects directly.
    package var proxy: SourceURL?
    package var limits = OriginLimits()
    package var expectation = OriginExpectation()
    package var cachePolicy = OriginCachePolicy.all
    /// Maximum bytes of a decoded image to cache; nil uses the cache's limit.
    package var maximumDecodedBytes: Int?
    package var ignoredParameters: Set<ExactText> = []
    package var propagatesTraces = false
    package var isWritable = false
    /// `Cache-Control` of stored objects; nil uses the result's.
    package var cacheControl: String?
    /// The only accessible file of a folder; nil makes all files accessible.
    package var onlyFile: ExactText?

    package init(name: String, location: Location) {
        self.name = name
        self.location = location
    }

    var baseOrigin: OriginKey? { if case .web(let base) = location { base.origin } else { nil } }

    var key: OriginKey { baseOrigin ?? OriginKey(folder: name) }

    func contains(_ url: SourceURL) -> Bool { baseOrigin == url.origin }
}

/// PEM files of a client certificate; libcurl reads them at each handshake.
package struct ClientCertificate: Hashable, Sendable {
    /// The certificate, followed by intermediate certificates.
    package let file: String
    package let keyFile: String

    package init(file: String, keyFile: String) {
        self.file = file
        self.keyFile = keyFile
    }
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

    init(folder name: String) {
        scheme = SourceURL.folderScheme
        host = name
        port = 0
    }

    init(scheme: String, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

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
    /// One of these certificates must be in the verified chain; an empty set rejects all.
    case certificate(Set<Pin>)
    /// One of these public keys must be in the verified chain; an empty set rejects all.
    case publicKey(Set<Pin>)

    /// The SHA-256 of a certificate or its public key (RFC 7469 section 2.4).
    package struct Pin: Sendable, Hashable {
        package let digest: [UInt8]

        package init(der: [UInt8]) { digest = unsafe SHA256.hash(der.span.bytes).bytes }

        /// Parses `sha256/BASE64`; nil for anything else.
        package init?(_ text: String) {
            let prefix = "sha256/"
            guard text.hasPrefix(prefix), let digest = Base64.decode(text.dropFirst(prefix.count)), digest.count == 32
            else { return nil }
            self.digest = digest
        }
    }
}
