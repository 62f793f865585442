import Crypto
import HTTPTypes
import Memory
package import Text

extension Origin {
    /// SHA-256 of all settings that affect fetches and caches under this name; hashed because they contain secrets.
    package var digest: String {
        var text = ""
        // Prefix each part with its length, so that different lists never result in the same text.
        for part in parts { text += "\(part.utf8.count):\(part)" }
        return SHA256.hash(text).hexadecimal
    }

    private var parts: [String] {
        let placeParts =
            switch location {
            case .web(let base): ["web", base.canonical]
            case .folder(let path): ["folder", path]
            case .memory(let bytes): ["memory", SharedBytes(bytes).withBytes { SHA256.hash($0) }.hexadecimal]
            }
        let fieldParts = fields.flatMap { [$0.name.rawName, $0.value.map { "=" + $0.text } ?? "-"] }
        return placeParts + ["fields"] + fieldParts + ["credentials"] + (credentials?.parts ?? [])
            + (forwarded.isEmpty ? [] : ["forward"] + forwarded.map(\.text)) + ["trust"] + tlsPolicy.parts + [
                "authorities", certificateAuthorities ?? "",
            ]
            + (clientCertificate.map { ["client", $0.file, $0.keyFile] } ?? []) + useParts
            + ["ignored"] + ignoredParameters.sorted().map(\.string) + (onlyFile.map { ["only", $0.string] } ?? [])
    }

    private var useParts: [String] {
        expectation.parts + (cachePolicy == .all ? [] : ["cache", cachePolicy.rawValue])
            + (maximumDecodedBytes.map { ["decoded", "\($0)"] } ?? [])
    }
}

extension Origins {
    package var digests: [ExactText: String] {
        Dictionary(uniqueKeysWithValues: all.map { (ExactText($0.name), $0.digest) })
    }
}

extension OriginCredentials {
    fileprivate var parts: [String] {
        switch self {
        case .basic(let user, let password): ["basic", user, password.text]
        case .bearer(let token): ["bearer", token.text]
        case .digest(let user, let password): ["digest", user, password.text]
        case .signature(let source, let region): ["s3"] + source.parts + [region]
        }
    }
}

extension KeySource {
    /// The settings; temporary keys are omitted, because they all give access to the same objects.
    fileprivate var parts: [String] {
        switch self {
        case .fixed(let key): [key.id, key.secret.text, key.sessionToken?.text ?? ""]
        case .webIdentity(let role, _, let file, let service): ["web-identity", role, file, service]
        case .container(let service, _): ["container", service]
        case .instance(let service): ["instance", service]
        }
    }
}

extension TLSPolicy {
    fileprivate var parts: [String] {
        switch self {
        case .none: ["none"]
        case .certificate(let pins): ["certificate"] + pins.map { Hexadecimal.encode($0.digest) }.sorted()
        case .publicKey(let pins): ["publicKey"] + pins.map { Hexadecimal.encode($0.digest) }.sorted()
        }
    }
}
