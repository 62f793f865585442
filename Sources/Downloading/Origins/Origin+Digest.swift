import Crypto
import HTTPTypes
import Memory
package import Text

extension Origin {
    /// SHA-256 of all settings that affect fetches and caches under this name; hashed because they contain secrets.
    package var digest: String {
        var text = ""
        // Prefix each text with its length, so that different lists never result in the same text.
        for setting in digestTexts { text += "\(setting.utf8.count):\(setting)" }
        return SHA256.hash(text).hexadecimal
    }

    private var digestTexts: [String] {
        let locationTexts =
            switch location {
            case .web(let base): ["web", base.canonical]
            case .folder(let path): ["folder", path]
            case .memory(let bytes): ["memory", SharedBytes(bytes).withBytes { SHA256.hash($0) }.hexadecimal]
            }
        let fieldTexts = fields.flatMap { [$0.name.rawName, $0.value.map { "=" + $0.text } ?? "-"] }
        return locationTexts + ["fields"] + fieldTexts + ["credentials"] + (credentials?.digestTexts ?? [])
            + (forwarded.isEmpty ? [] : ["forward"] + forwarded.map(\.text)) + ["trust"] + tlsPolicy.digestTexts + [
                "authorities", certificateAuthorities ?? "",
            ]
            + (clientCertificate.map { ["client", $0.file, $0.keyFile] } ?? []) + useTexts
            + ["ignored"] + ignoredParameters.sorted().map(\.string) + (onlyFile.map { ["only", $0.string] } ?? [])
    }

    private var useTexts: [String] {
        expectation.digestTexts + (cachePolicy == .all ? [] : ["cache", cachePolicy.rawValue])
            + (maximumDecodedBytes.map { ["decoded", "\($0)"] } ?? [])
    }
}

extension Origins {
    package var digests: [ExactText: String] {
        Dictionary(uniqueKeysWithValues: all.map { (ExactText($0.name), $0.digest) })
    }
}

extension OriginCredentials {
    fileprivate var digestTexts: [String] {
        switch self {
        case .basic(let user, let password): ["basic", user, password.text]
        case .bearer(let token): ["bearer", token.text]
        case .digest(let user, let password): ["digest", user, password.text]
        case .signature(let source, let region): ["s3"] + source.digestTexts + [region]
        }
    }
}

extension KeySource {
    /// The settings; temporary keys are omitted, because they all give access to the same objects.
    fileprivate var digestTexts: [String] {
        switch self {
        case .fixed(let key): [key.id, key.secret.text, key.sessionToken?.text ?? ""]
        case .webIdentity(let role, _, let file, let service): ["web-identity", role, file, service]
        case .container(let service, _): ["container", service]
        case .instance(let service): ["instance", service]
        }
    }
}

extension TLSPolicy {
    fileprivate var digestTexts: [String] {
        switch self {
        case .none: ["none"]
        case .certificate(let pins): ["certificate"] + pins.map { Hexadecimal.encode($0.digest) }.sorted()
        case .publicKey(let pins): ["publicKey"] + pins.map { Hexadecimal.encode($0.digest) }.sorted()
        }
    }
}
