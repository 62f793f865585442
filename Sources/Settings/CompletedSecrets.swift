import Glibc
import JSON
import Text

/// A settings file with placeholders for missing secrets, so that everything else can be checked.
struct CompletedSecrets {
    private(set) var values: [ExactText: JSONValue]
    private(set) var environment: [String: String]
    private(set) var missing: [SettingsProblem] = []

    /// A value that is valid for every setting.
    private static let placeholder = String(repeating: "0123456789abcdef", count: 4)

    init(_ values: [ExactText: JSONValue], environment: [String: String]) {
        self.values = values
        self.environment = environment
        for setting in SettingTable.all where setting.secrecy != .none {
            let name = ExactText(setting.name)
            if let value = values[name] { self.values[name] = completed(value, at: setting.name) }
        }
    }

    private mutating func completed(_ value: JSONValue, at path: String) -> JSONValue {
        switch SecretReference(value) {
        case .variable(let name) where environment[name] == nil:
            return placeholder(for: name, kind: "environment variable", path: path)
        case .file(let location) where unsafe access(location, R_OK) != 0:
            return placeholder(for: location, kind: "file", path: path)
        default: break
        }
        switch value {
        case .array(let values):
            return .array(values.enumerated().map { completed($1, at: "\(path).\($0)") })
        case .object(let members):
            return .object(members.map { ($0.0, completed($0.1, at: "\(path).\($0.0)")) })
        default: return value
        }
    }

    private mutating func placeholder(for location: String, kind: String, path: String) -> JSONValue {
        missing.append(SettingsProblem(path: path, line: "\(path): the \(kind) \(location) is missing"))
        environment[location] = Self.placeholder
        return .object([("env", .string(location))])
    }
}
