import Crypto
import Downloading
import Glibc
import Memory
import Recipes
package import SharedCaching
import Text
package import ThumbnailPipeline

package struct SharedCacheSettings: Sendable {
    var address: SharedCacheAddress?
    var timeout = Duration.milliseconds(50)
    /// A PEM file of certificate authorities; nil uses the system's.
    var authorities: String?
    var sharesSources = false
    var credentials = SharedCacheCredentials()
    /// The name that operators see; nil uses the host name.
    var instanceName: String?

    package var instance: String {
        if let instanceName { return instanceName }
        var bytes = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "unknown" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension Settings {
    /// The configuration; nil without a shared cache; an ephemeral session does not write to it.
    package var sharedCacheConfiguration: SharedCacheConfiguration? {
        sharedCache.address.map { address in
            var configuration = SharedCacheConfiguration(address: address)
            configuration.credentials = sharedCache.credentials
            configuration.authorities = sharedCache.authorities
            configuration.requestTimeout = pipeline.requestTimeout
            configuration.store.timeout = min(sharedCache.timeout, pipeline.requestTimeout)
            configuration.store.isReadOnly = disk.mode == .ephemeral
            return configuration
        }
    }
}

extension SharedCacheSettings {
    private static let addressForms =
        "redis://HOST:PORT/DATABASE, or rediss:// for TLS, without sharedCacheUser and sharedCachePassword"

    static let table: [Setting] = [
        Setting(
            "sharedCache", \.sharedCache.address, as: .init(allowed: addressForms) { SharedCacheAddress($0) },
            help: "redis:// or rediss://HOST:PORT/DATABASE, for a fleet", secrecy: .hidden),
        Setting(
            "sharedCacheUser", \.sharedCache.credentials.user, as: SettingParser<String?> { $0.isEmpty ? nil : $0 },
            help: "user of the shared cache"),
        Setting(
            "sharedCachePassword", \.sharedCache.credentials.password, as: SettingParser<String> { $0 },
            help: "password of the shared cache", secrecy: .secret),
        Setting(
            "sharedCacheKey", \.sharedCache.credentials.key,
            as: .init(allowed: "32 to 256 hexadecimal digits") { text in
                Hexadecimal.decode(text).flatMap { (16...128).contains($0.count) ? $0 : nil }
            }, help: "hexadecimal key that signs shared values, the same for all instances", secrecy: .secret),
        Setting(
            "sharedCacheTimeout", \.sharedCache.timeout, as: .duration(maximumSeconds: 1), default: "50ms",
            help: "time that one request may wait for the shared cache"),
        Setting(
            "sharedCacheAuthorities", \.sharedCache.authorities,
            as: .text(allowed: "the path of a PEM file") { !$0.isEmpty && !$0.utf8.contains(0) },
            whenUnset: "the system's", help: "PEM file of certificate authorities for rediss://"),
        Setting(
            "sharedCacheSources", \.sharedCache.sharesSources, as: .flag, default: "off",
            help: "on: also share sources"),
        Setting(
            "instanceName", \.sharedCache.instanceName,
            as: .text(allowed: "a name of at most 253 printable characters without spaces") { text in
                (1...253).contains(text.utf8.count) && text.utf8.allSatisfy(\.isVisibleASCII)
            }, whenUnset: "the host's name", help: "name of this instance in /status"),
    ]
}

extension Settings {
    /// - Parameter versions: The release and library versions, which affect encoded results.
    package func sharedLayerRules(_ pipeline: PipelineConfiguration, versions: String) -> SharedLayer.Rules {
        var rules = SharedLayer.Rules(digest: responseDigest(pipeline, versions: versions))
        rules.staleAllowances = downloads.staleAllowances
        rules.sharesSources = sharedCache.sharesSources
        return rules
    }

    func responseDigest(_ pipeline: PipelineConfiguration, versions: String) -> String {
        SHA256.hash(responseKeyText(pipeline, versions: versions)).hexadecimal
    }

    /// Returns a text with every setting that can change a response.
    ///
    /// Rules for sources are not included, because the keys of sources contain them. The keys of results contain the
    /// options of a request, with the settings applied.
    func responseKeyText(_ pipeline: PipelineConfiguration, versions: String) -> String {
        let rules = pipeline.rules
        let limits = pipeline.rules.limits
        let similarity = rules.similarity
        // Instances with another key could neither read nor trust these entries.
        let names = sharedCache.credentials.key.map { key in
            Hexadecimal.encode(HMAC.authenticationCode(for: "names".utf8, key: key))
        }
        var members: [(String, String)] = [
            ("engine", versions), ("names", names ?? ""),
            ("sourceFormats", limits.sourceFormats.map(\.rawValue).sorted().joined(separator: ",")),
            ("autoFormats", rules.automaticFormats.map(\.rawValue).joined(separator: ",")),
            ("efforts", ImageFormat.allCases.map { "\($0.rawValue)=\(rules.efforts[$0])" }.joined(separator: ",")),
            ("resample", rules.light.rawValue),
            ("autoQuality", "\(similarity.minimum),\(similarity.lowest),\(similarity.highest)"),
            ("maxSourcePixels", "\(limits.maximumSourcePixels)"), ("maxOutputPixels", "\(limits.maximumOutputPixels)"),
            ("maxOutputPixelsSlow", "\(limits.maximumOutputPixelsSlow)"), ("maxFrames", "\(limits.maximumFrames)"),
            ("incompleteImages", limits.incompleteImages.rawValue), ("maxSourceBytes", "\(downloads.maximumBytes)"),
            ("maxRedirects", "\(downloads.maximumRedirects)"), ("cdnLoop", downloads.loopName ?? ""),
            ("userAgent", downloads.userAgent), ("accept", downloads.accept),
            ("authorities", downloads.certificateAuthorities ?? ""),
        ]
        if rules.gamut != .srgb { members.append(("gamut", rules.gamut.rawValue)) }
        if rules.keptMetadata != .ai { members.append(("keepMetadata", rules.keptMetadata.text)) }
        // The length prefix makes the text unambiguous.
        return members.map { name, value in "\(name) \(value.utf8.count):\(value)\n" }.joined()
    }
}

package struct ResultStoreSettings: Sendable {
    package var origin: String?
    var timeout = Duration.milliseconds(200)
}

extension ResultStoreSettings {
    static let table: [Setting] = [
        Setting(
            "resultStore", \.resultStore.origin,
            as: .text(allowed: "the name of an origin with write in the settings file") { Origins.isName($0) },
            help: "named origin with write for results"),
        Setting(
            "resultStoreTimeout", \.resultStore.timeout, as: .duration(maximumSeconds: 10), default: "200ms",
            help: "time that one request may wait for the result store"),
    ]
}

extension Settings {
    package var resultStoreConfiguration: SharedStoreConfiguration {
        var configuration = SharedStoreConfiguration()
        configuration.timeout = min(resultStore.timeout, pipeline.requestTimeout)
        configuration.isReadOnly = disk.mode == .ephemeral
        configuration.key = sharedCache.credentials.key
        return configuration
    }
}
