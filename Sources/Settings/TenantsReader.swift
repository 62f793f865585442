import Coordination
import Crypto
import Dialects
import Downloading
import JSON
import Text
import ThumbnailAPI
import ThumbnailPipeline

/// Reads `tenants`; the origins and presets that they name must be read before.
struct TenantsReader {
    private let settings: Settings
    private let environment: [String: String]
    private var keyIDs: Set<ExactText> = []
    private var hosts: Set<ExactText> = []

    private static let members = [
        "keys", "hosts", "origins", "allowedSources", "presets", "sizes", "maxSourceBytes", "maxSourcePixels",
        "maxOutputPixels", "rate", "processorTime", "originBytes", "share", "shareSources",
    ]

    init(_ settings: Settings, environment: [String: String]) {
        self.settings = settings
        self.environment = environment
    }

    mutating func read(_ value: JSONValue) -> (tenants: [TenantSettings], problems: [SettingsProblem]) {
        guard case .object(let members) = value else {
            return ([], [InvalidMember(path: "tenants", allowed: "an object of tenants by name").problem])
        }
        var tenants: [TenantSettings] = []
        var problems: [SettingsProblem] = []
        for (name, description) in members.sorted(by: { $0.0 < $1.0 }) {
            do throws(InvalidMember) {
                tenants.append(try tenant(name, value: description))
            } catch {
                problems.append(error.problem)
            }
        }
        return (tenants, problems)
    }

    private mutating func tenant(_ name: String, value: JSONValue) throws(InvalidMember) -> TenantSettings {
        let path = "tenants.\(name)"
        guard Origins.isName(name) else {
            throw InvalidMember(
                path: path, allowed: "a name of up to 32 lowercase letters, digits and hyphens, starting with a letter")
        }
        let object = try SettingsObject(value, at: path, names: Self.members, environment: environment)
        var tenant = TenantSettings(name)
        tenant.keys = try keys(object)
        tenant.hosts = try hosts(object)
        guard tenant.isDefault || !tenant.keys.isEmpty || !tenant.hosts.isEmpty else {
            throw InvalidMember(path: path, allowed: "keys or hosts, without which no request belongs to it")
        }
        tenant.origins = try names(in: object, member: "origins", kind: "an origin") {
            settings.downloads.origins[$0.string] != nil
        }
        tenant.presets = try names(in: object, member: "presets", kind: "a preset") { name in
            let vocabulary = settings.api.vocabulary
            return vocabulary.presets[name] != nil || vocabulary.dialectPresets[name] != nil
        }
        tenant.allowedSources =
            try object.setting("allowedSources", as: .list(allowed: Self.patterns) { SourcePattern($0) }) ?? []
        tenant.sharesSources = try object.setting("shareSources", as: .flag) ?? false
        tenant.sizes = try object.setting("sizes", as: .integers(in: 1...16_384)) ?? []
        let allowed = settings.api.vocabulary.sizes.sizes
        guard tenant.sizes.isEmpty || allowed.isEmpty || tenant.sizes.contains(where: allowed.contains) else {
            throw object.problem("sizes", allowed: "at least one of the setting sizes")
        }
        tenant.maximumSourceBytes = try object.setting("maxSourceBytes", as: .byteSize)
        tenant.maximumSourcePixels = try object.setting("maxSourcePixels", as: .integer(in: 1...10_000_000_000))
        tenant.maximumOutputPixels = try object.setting("maxOutputPixels", as: .integer(in: 1...10_000_000_000))
        let count = SettingParser<Int>.integer(in: 1...1_000_000)
        tenant.limits.rate = try object.setting("rate", as: .quota(of: count, example: "200/s"))
        let time = SettingParser<Duration>.duration.map { Int($0.nanoseconds) }
        tenant.limits.processorTime = try object.setting("processorTime", as: .quota(of: time, example: "30s/1m"))
        tenant.limits.originBytes = try object.setting("originBytes", as: .quota(of: .byteSize, example: "50GiB/24h"))
        tenant.limits.weight = try object.setting("share", as: .integer(in: 1...1_000)) ?? 1
        return tenant
    }

    private static let patterns = "a list of patterns such as https://*.example.com/images/*"

    private mutating func keys(_ object: SettingsObject) throws(InvalidMember) -> [TenantSettings.Key] {
        var keys: [TenantSettings.Key] = []
        for key in try object.objects("keys", names: ["id", "secret", "kind", "salt"]) {
            let allowed = "a string of up to 64 letters, digits, points, underscores and hyphens"
            let id = try key.requiredText("id", allowed: allowed)
            guard Vocabulary.isName(id) else { throw key.problem("id", allowed: allowed) }
            guard keyIDs.insert(ExactText(id)).inserted else { throw key.problem("id", allowed: "a unique ID") }
            keys.append(try self.key(ExactText(id), object: key))
        }
        return keys
    }

    private func key(_ id: ExactText, object: SettingsObject) throws(InvalidMember) -> TenantSettings.Key {
        let kind = try object.setting("kind", as: SettingParser<TenantSettings.Key.Kind>.choice) ?? .native
        guard kind == .imgproxy || !object.has("salt") else {
            throw object.problem("salt", allowed: "none with a key of kind \(kind.rawValue)")
        }
        let dialects = settings.dialects
        let isServed =
            switch kind {
            case .native: true
            case .imgproxy: dialects.imgproxy.prefix != nil
            case .thumbor: dialects.thumbor.prefix != nil
            case .imaginary: dialects.imaginary.prefix != nil
            }
        guard isServed else { throw object.problem("kind", allowed: "\(kind.rawValue) only with \(kind.rawValue)Path") }
        switch kind {
        case .native:
            let keys = try object.key("secret", as: .keys)
            guard keys.count == 1 else {
                throw object.problem("secret", allowed: "exactly one key; others need their own IDs")
            }
            return TenantSettings.Key(id: id, kind: kind, secret: keys[0])
        case .imgproxy:
            let keys = try object.key("secret", as: .hexadecimal)
            let salts = try object.key("salt", as: .hexadecimal)
            guard keys.count == 1, salts.count == 1 else {
                throw object.problem("secret", allowed: "one key and one salt; others are keys with other IDs")
            }
            return TenantSettings.Key(id: id, kind: kind, secret: keys[0], salt: salts[0])
        case .thumbor, .imaginary:
            return TenantSettings.Key(id: id, kind: kind, secret: try object.key("secret", as: .bytes(atLeast: 1)))
        }
    }

    private mutating func hosts(_ object: SettingsObject) throws(InvalidMember) -> [ExactText] {
        let allowed = "a list of host names without ports"
        var found: [ExactText] = []
        for text in try object.texts("hosts", allowed: allowed) ?? [] {
            guard text != AdminSites.anyName, let host = RequestHost.name(of: text), host.string == text.asciiLowercased
            else { throw object.problem("hosts", allowed: allowed) }
            guard hosts.insert(host).inserted else {
                throw object.problem("hosts", allowed: "each host only once in all tenants; \(host) is repeated")
            }
            found.append(host)
        }
        return found
    }

    private func names(
        in object: SettingsObject, member: String, kind: String, _ exists: (ExactText) -> Bool
    ) throws(InvalidMember) -> [ExactText] {
        let allowed = "a list of names"
        let names = (try object.texts(member, allowed: allowed) ?? []).map { ExactText($0) }
        if let unknown = names.first(where: { !exists($0) }) {
            throw object.problem(
                member, allowed: "\(allowed); \(unknown) is not the name of \(kind) in the settings file")
        }
        return names
    }
}

extension SettingsObject {
    func objects(_ name: String, names: [String]) throws(InvalidMember) -> [SettingsObject] {
        guard let value = value(name) else { return [] }
        guard case .array(let values) = value else { throw problem(name, allowed: "a list of objects") }
        var objects: [SettingsObject] = []
        for (index, value) in values.enumerated() {
            objects.append(try member(value, named: "\(name).\(index)", allowing: names))
        }
        return objects
    }

    /// A text or a reference, as in the settings for keys.
    fileprivate func key<Value>(_ name: String, as parser: SettingParser<Value>) throws(InvalidMember) -> Value {
        guard let value = value(name) else { throw problem(name, allowed: "a string, \(SecretReferences.allowed)") }
        do throws(InvalidValue) {
            let text = try SecretReferences(environment: environment).text(of: value)
            try SecretReferences.checkKey(text)
            return try parser.parse(text)
        } catch {
            throw problem(name, allowed: error.allowed)
        }
    }
}
