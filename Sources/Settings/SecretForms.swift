import JSON
import Text

/// The forms by which the settings file names a secret instead of holding it: `{ env: "VARIABLE" }` and
/// `{ file: "PATH" }`.
struct SecretForms {
    /// The forms, in the words of an error.
    static let allowed = "{ env: \"VARIABLE\" } or { file: \"PATH\" }, which name a variable or a file that holds it"

    /// The process's environment.
    let environment: [String: String]  // Names come from the operator.

    /// The text of a secret setting: a text, a form, or a list of both, which is joined with commas.
    func text(of value: JSONValue) throws(InvalidValue) -> String {
        switch value {
        case .object: return try secret(of: value)
        case .array(let values):
            var texts: [String] = []
            for value in values { texts.append(try text(of: value)) }
            return texts.joined(separator: ",")
        case .string(let text): return text
        // As text, a number could be another one, and `true` would be a key that anybody can guess.
        case .bool, .int, .double, .null: throw InvalidValue(allowed: "a text in quotation marks, \(Self.allowed)")
        }
    }

    /// The secret that a form names.
    func secret(of value: JSONValue) throws(InvalidValue) -> String {
        guard let members = value.members, let (name, member) = members.first, members.count == 1,
            case .string(let place) = member, !place.isEmpty
        else { throw InvalidValue(allowed: Self.allowed) }
        let secret: String
        switch name {
        case "env": secret = try variable(place)
        case "file": secret = try file(place)
        default: throw InvalidValue(allowed: Self.allowed)
        }
        guard !secret.isBlank else {
            throw InvalidValue(allowed: "a secret that is not empty; that of \(place) is")
        }
        guard secret.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw InvalidValue(allowed: "a secret in one line without control characters; that of \(place) has some")
        }
        return secret
    }

    private func variable(_ name: String) throws(InvalidValue) -> String {
        guard let value = environment[name] else {
            throw InvalidValue(allowed: "the name of an environment variable that is set; \(name) is not")
        }
        return value
    }

    /// The text of a file without the newline at its end, which editors and `echo` write.
    private func file(_ path: String) throws(InvalidValue) -> String {
        do {
            let text = try SettingsFile.read(path)
            return text.last?.isNewline == true ? String(text.dropLast()) : text
        } catch {
            throw InvalidValue(allowed: "the path of a file that can be read; \(path) cannot: \(error.reason)")
        }
    }
}

extension SecretForms {
    /// A secret given as text: neither blank, nor one of the forms, which would be a key that anybody can guess.
    static func judge(_ text: String) throws(InvalidValue) {
        guard !text.isBlank else { throw InvalidValue(allowed: "a text that is not empty; leave it out for none") }
        let isForm = ["env", "file"].contains { name in
            let bare = text.filter { !" \t\"'".contains($0) }
            return bare.hasPrefix("{\(name):")
        }
        if isForm { throw InvalidValue(allowed: "a text; \(allowed), are objects of the settings file alone") }
    }
}

extension StringProtocol {
    /// Whether there is nothing but white space.
    var isBlank: Bool { allSatisfy(\.isWhitespace) }
}
