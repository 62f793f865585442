package import Dialects
package import Downloading
import JSON
package import Text
import ThumbnailAPI
package import ThumbnailPipeline
import ThumbnailTypes

/// A tenant with its keys, hosts, origins, presets and limits.
package struct TenantSettings: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        enum Kind: String, CaseIterable, Hashable, Sendable { case native, imgproxy, thumbor, imaginary }

        let id: ExactText
        let kind: Kind
        let secret: [UInt8]
        /// The salt of imgproxy's signatures; empty for other dialects.
        var salt: [UInt8] = []
    }

    /// The tenant of requests that belong to no other tenant.
    package static let defaultName = "default"

    package let name: String
    package var keys: [Key] = []
    /// The host names, lowercase and without ports.
    package var hosts: [ExactText] = []
    package var origins: [ExactText] = []
    var allowedSources: [SourcePattern] = []
    /// Whether the tenant shares sources with the default and with other tenants that do.
    var sharesSources = false
    var presets: [ExactText] = []
    var sizes: [Int] = []
    var maximumSourceBytes: Int?
    var maximumSourcePixels: Int?
    var maximumOutputPixels: Int?
    package var limits = TenantAccount.Limits(weight: 1)

    package init(_ name: String) { self.name = name }

    package var nativeKeys: [SigningKeys.Key] {
        keys.filter { $0.kind == .native }.map { SigningKeys.Key(id: $0.id, bytes: $0.secret) }
    }

    package var hasOtherKeys: Bool { keys.contains { $0.kind != .native } }

    var isDefault: Bool { name == Self.defaultName }

    static let setting = Setting.inFile(
        "tenants", help: "tenants with their own keys, hosts, origins and limits (settings file only)",
        secrecy: .hidden, copying: { $0.tenants = $1.tenants }
    ) { value, environment, settings in
        var reader = TenantsReader(settings, environment: environment)
        let (tenants, problems) = reader.read(value)
        settings.tenants = tenants
        return problems
    }
}

extension Settings {
    /// Returns the settings for requests of a tenant; the service's settings if there are no tenants.
    package func narrowed(to tenant: TenantSettings) -> Settings {
        guard !tenants.isEmpty else { return self }
        var settings = self
        tenant.narrowSources(of: &settings)
        tenant.narrowVocabulary(of: &settings)
        tenant.addKeys(to: &settings)
        settings.deriveDialects()
        return settings
    }

    /// All tenants, beginning with the default one; empty in a service without tenants.
    package var allTenants: [TenantSettings] {
        guard !tenants.isEmpty else { return [] }
        let standard = tenants.first(where: \.isDefault) ?? TenantSettings(TenantSettings.defaultName)
        return [standard] + tenants.filter { !$0.isDefault }
    }

    /// The rules for sources of tenants whose rules differ from the service's.
    package var tenantDownloads: [DownloadConfiguration] {
        allTenants.compactMap { tenant in
            var settings = self
            tenant.narrowSources(of: &settings)
            return tenant.hasOwnRules(in: self) ? settings.downloads : nil
        }
    }
}

/// Narrows the settings: a tenant that lists origins or presets sees only these, and no other tenant sees them.
extension TenantSettings {
    fileprivate func narrowSources(of settings: inout Settings) {
        let all = settings.downloads.origins
        settings.downloads.origins =
            origins.isEmpty
            ? all.without(settings.tenants.lazy.flatMap(\.origins)) : Origins(origins.compactMap { all[$0.string] })
        if let base = settings.api.vocabulary.baseOrigin, !Self.sees(base.text, in: settings) {
            settings.api.vocabulary.baseOrigin = nil
        }
        let maximum = min(maximumSourceBytes ?? .max, settings.downloads.maximumBytes)
        if hasOwnRules(in: settings) || !sharesSources && !isDefault { settings.downloads.tenant = ExactText(name) }
        settings.downloads.tenantSources = allowedSources
        settings.downloads.maximumBytes = maximum
        settings.api.maximumUploadBytes = min(maximum, settings.api.maximumUploadBytes)
        settings.api.requestLimits.maximumSourceBytes = maximumSourceBytes
        settings.api.requestLimits.maximumSourcePixels = maximumSourcePixels
        settings.api.requestLimits.maximumOutputPixels = maximumOutputPixels
    }

    /// Whether the tenant may use other sources than the service's rules allow.
    fileprivate func hasOwnRules(in settings: Settings) -> Bool {
        !allowedSources.isEmpty || maximumSourceBytes ?? .max < settings.downloads.maximumBytes
    }

    fileprivate func narrowVocabulary(of settings: inout Settings) {
        let taken = Set(settings.tenants.flatMap(\.presets))
        func sees(_ name: ExactText) -> Bool {
            if name == Vocabulary.standardPreset, !taken.contains(name) { return true }
            return presets.isEmpty ? !taken.contains(name) : presets.contains(name)
        }
        var vocabulary = settings.api.vocabulary
        vocabulary.presets = vocabulary.presets.keeping { sees($0.key) }
        vocabulary.dialectPresets = vocabulary.dialectPresets.keeping { sees($0.key) }
        vocabulary.watermarks = vocabulary.watermarks.keeping { Self.sees($0.value.source.string, in: settings) }
        if !sizes.isEmpty {
            let allowed = vocabulary.sizes.sizes
            vocabulary.sizes.sizes = sizes.filter { allowed.isEmpty || allowed.contains($0) }
            vocabulary.sizes.limitsSigned = true
        }
        settings.api.vocabulary = vocabulary
    }

    /// Whether the tenant sees the source; false if it belongs to another tenant's origin.
    private static func sees(_ source: String, in settings: Settings) -> Bool {
        guard let name = source.firstIndex(of: ":").map({ String(source[..<$0]) }), Origins.isName(name) else {
            return true
        }
        return settings.downloads.origins[name] != nil
    }

    /// Sets the tenant's keys; a tenant without keys stays open, even if others have keys.
    fileprivate func addKeys(to settings: inout Settings) {
        if !isDefault {
            settings.api.signingKeys = []
            settings.dialects.thumbor.keys = []
            settings.dialects.imaginary.keys = []
            settings.dialects.imaginary.signatureKey = nil
            settings.dialects.imgproxy.keys = []
            settings.dialects.imgproxy.salts = []
            settings.dialects.imgproxy.trustedSignatures = []
        }
        settings.api.tenant = ExactText(name)
        settings.api.namedKeys = nativeKeys
        settings.dialects.imgproxy.salts += keys.filter { $0.kind == .imgproxy }.map(\.salt)
        addKeys(.imgproxy, to: &settings, at: \.imgproxy.keys)
        addKeys(.thumbor, to: &settings, at: \.thumbor.keys)
        addKeys(.imaginary, to: &settings, at: \.imaginary.keys)
    }

    private func addKeys(
        _ kind: Key.Kind, to settings: inout Settings, at keyPath: WritableKeyPath<DialectSettings, [[UInt8]]>
    ) {
        let keys = keys.filter { $0.kind == kind }
        let numbers = settings.dialects[keyPath: keyPath].indices.map { ExactText("\($0 + 1)") }
        settings.dialects[keyPath: keyPath] += keys.map(\.secret)
        settings.api.keyIDs[ExactText(kind.rawValue)] = numbers + keys.map(\.id)
    }
}

extension Dictionary {
    /// Shares the memory if all elements stay, because there may be many tenants.
    fileprivate func keeping(_ isIncluded: (Element) -> Bool) -> Self {
        allSatisfy(isIncluded) ? self : filter(isIncluded)
    }
}
