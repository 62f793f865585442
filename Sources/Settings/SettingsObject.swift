import Downloading
import HTTPTypes
import JSON
import Text

/// A member of an object in the settings file that is unknown or has an invalid value.
struct InvalidMember: Error, Equatable {
    let path: String
    let allowed: String
    var isAboutName = false

    var problem: SettingsProblem { SettingsProblem(path, allowed: allowed, isAboutName: isAboutName) }
}

/// A field of HTTP, whose value is a string, a secret, or null to omit the field.
struct ConfiguredField {
    let name: HTTPField.Name
    var value: Secret?
    var isSecret = false
}

/// An object in the settings file, whose members are read by name.
struct SettingsObject {
    /// The path of a member, such as `origins.photos.tls`.
    let path: String
    private let members: [ExactText: JSONValue]
    let environment: [String: String]

    /// - Parameter names: The allowed members; nil allows any.
    init(_ value: JSONValue, at path: String, names: [String]?, environment: [String: String]) throws(InvalidMember) {
        let form = names.map { "an object with " + $0.joined(separator: ", ") } ?? "an object"
        guard let members = value.members else { throw InvalidMember(path: path, allowed: form) }
        let knownNames = names.map { Set($0.map { ExactText($0) }) }
        if let knownNames, let unknown = members.keys.sorted().first(where: { !knownNames.contains($0) }) {
            let nearest = NearestName.of(unknown.string, among: names ?? []).map { "; did you mean \($0)?" } ?? ""
            throw InvalidMember(path: "\(path).\(unknown)", allowed: form + nearest, isAboutName: true)
        }
        self.path = path
        self.members = members
        self.environment = environment
    }

    var names: [String] { members.keys.sorted().map(\.string) }

    func value(_ name: String) -> JSONValue? { members[ExactText(name)] }

    func member(
        _ value: JSONValue, named name: String, allowing names: [String]
    ) throws(InvalidMember) -> SettingsObject {
        try SettingsObject(value, at: "\(path).\(name)", names: names, environment: environment)
    }

    func has(_ name: String) -> Bool { members[ExactText(name)] != nil }

    func object(_ name: String, names: [String]?) throws(InvalidMember) -> SettingsObject? {
        guard let value = members[ExactText(name)] else { return nil }
        return try SettingsObject(value, at: "\(path).\(name)", names: names, environment: environment)
    }

    func text(_ name: String, allowed: String = "a string") throws(InvalidMember) -> String? {
        guard let value = members[ExactText(name)] else { return nil }
        guard case .string(let text) = value, !text.isEmpty else { throw problem(name, allowed: allowed) }
        return text
    }

    func requiredText(_ name: String, allowed: String = "a string") throws(InvalidMember) -> String {
        guard let text = try text(name, allowed: allowed) else { throw problem(name, allowed: allowed) }
        return text
    }

    func texts(_ name: String, allowed: String) throws(InvalidMember) -> [String]? {
        guard let value = members[ExactText(name)] else { return nil }
        guard case .array(let values) = value else { throw problem(name, allowed: allowed) }
        var texts: [String] = []
        for value in values {
            guard case .string(let text) = value else { throw problem(name, allowed: allowed) }
            texts.append(text)
        }
        return texts
    }

    func setting<Value>(_ name: String, as parser: SettingParser<Value>) throws(InvalidMember) -> Value? {
        guard let value = members[ExactText(name)] else { return nil }
        do throws(InvalidValue) {
            // No setting has this text, so the error lists the allowed values.
            return try parser.parse(value.commandLineText ?? "{…}")
        } catch {
            throw problem(name, allowed: error.allowed)
        }
    }

    /// Returns the value of a secret reference; a literal secret is a problem.
    func secret(_ name: String) throws(InvalidMember) -> String? {
        guard let value = members[ExactText(name)] else { return nil }
        do throws(InvalidValue) {
            return try SecretReferences(environment: environment).secret(of: value)
        } catch {
            throw problem(name, allowed: error.allowed)
        }
    }

    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    func requiredSecret(_ name: String) throws(InvalidMember) -> String {
        guard let secret = try secret(name) else { throw problem(name, allowed: SecretReferences.allowed) }
        return secret
    }

    /// - Parameter reserved: The fields that the service sets.
    func fields(
        _ name: String, notAmong reserved: [HTTPField.Name]
    ) throws(InvalidMember) -> [ConfiguredField] {
        guard let headers = try object(name, names: nil) else { return [] }
        guard members[ExactText(name)]?.isSecretReference != true else {
            throw problem(name, allowed: "an object of fields, whose values can be secrets")
        }
        var fields: [ConfiguredField] = []
        for text in headers.names {
            guard let name = HTTPField.Name(text), !reserved.contains(name) else {
                throw headers.problem(text, allowed: "a field name that the service does not set itself")
            }
            guard !fields.contains(where: { $0.name == name }) else {
                throw headers.problem(text, allowed: "each field once")
            }
            if headers.isNull(text) {
                fields.append(ConfiguredField(name: name))
            } else {
                let isSecret = headers.isSecret(text)
                let value = try isSecret ? headers.requiredSecret(text) : headers.requiredText(text)
                guard value.utf8.allSatisfy({ !$0.isASCIIControl }) else {
                    throw headers.problem(text, allowed: "a string without control characters")
                }
                fields.append(ConfiguredField(name: name, value: Secret(value), isSecret: isSecret))
            }
        }
        return fields
    }

    func document(_ name: String) throws(InvalidMember) -> String? {
        switch members[ExactText(name)] {
        case let value? where value.isSecretReference:
            throw problem(name, allowed: "a string, an object or an array; secrets can be in headers")
        case .object?, .array?: return members[ExactText(name)]?.text
        default: return try text(name, allowed: "a string, an object or an array")
        }
    }

    func isNull(_ name: String) -> Bool { if case .null? = members[ExactText(name)] { true } else { false } }

    func isSecret(_ name: String) -> Bool { if case .object? = members[ExactText(name)] { true } else { false } }

    func problem(_ name: String, allowed: String) -> InvalidMember {
        InvalidMember(path: "\(path).\(name)", allowed: allowed)
    }
}
