import Glibc
import JSON
import Text

/// References to secrets in the settings file: `{ env: "VARIABLE" }` and `{ file: "PATH" }`.
struct SecretReferences {
    static let allowed = "{ env: \"VARIABLE\" } or { file: \"PATH\" }, which name a variable or a file that holds it"

    let environment: [String: String]  // Names come from the operator.

    /// Returns the text of a value: a text, a reference, or a list of both, which is joined with commas.
    func text(of value: JSONValue) throws(InvalidValue) -> String {
        switch value {
        case .object: return try secret(of: value)
        case .array(let values):
            var texts: [String] = []
            for value in values { texts.append(try text(of: value)) }
            return texts.joined(separator: ",")
        case .string(let text): return text
        // A number could change when written as text, and `true` would be a key that anyone can guess.
        case .bool, .int, .double, .null: throw InvalidValue(allowed: "a string in quotation marks, \(Self.allowed)")
        }
    }

    func secret(of value: JSONValue) throws(InvalidValue) -> String {
        let (secret, location): (String, String)
        switch SecretReference(value) {
        case .variable(let name): (secret, location) = (try variable(name), name)
        case .file(let path): (secret, location) = (try file(path), path)
        case nil: throw InvalidValue(allowed: Self.allowed)
        }
        do { try Self.check(secret) } catch {
            throw InvalidValue(allowed: "a secret; \(location) is invalid: \(error.allowed)")
        }
        guard secret.utf8.allSatisfy({ !$0.isASCIIControl }) else {
            throw InvalidValue(allowed: "a secret in one line without control characters; \(location) has some")
        }
        return secret
    }

    private func variable(_ name: String) throws(InvalidValue) -> String {
        guard let value = environment[name] else {
            throw InvalidValue(allowed: "the name of an environment variable that is set; \(name) is not")
        }
        return value
    }

    /// Reads a file without the trailing newline that editors and `echo` add.
    private func file(_ path: String) throws(InvalidValue) -> String {
        do {
            let text = try SettingsFile.read(path)
            return text.last?.isNewline == true ? String(text.dropLast()) : text
        } catch {
            throw InvalidValue(allowed: "the path of a file that can be read; \(path) cannot: \(error.reason)")
        }
    }
}

extension SecretReferences {
    /// Rejects a key that repeats one character, because it is easy to guess.
    static func checkKey(_ text: String) throws(InvalidValue) {
        try check(text)
        let keys = text.split(separator: ",").map(\.trimmingSpaces).filter { $0.utf8.count >= longKey }
        guard !([text] + keys).contains(where: { Set($0.utf8).count == 1 }) else {
            throw InvalidValue(allowed: "a key that is not one character repeated")
        }
    }

    /// The length in bytes from which a text between commas must be a key, not a part of one.
    private static let longKey = 16

    /// Rejects literal secrets that anyone can guess: blank texts and unreplaced placeholders.
    static func check(_ text: String) throws(InvalidValue) {
        let bare = text.filter { !" \t\"'".contains($0) }
        guard !bare.filter({ $0 != "," }).isBlank else {
            throw InvalidValue(allowed: "a string that is not empty; leave it out for none")
        }
        try checkText(text, notAmong: ["env:", "file:"])
        let marks = [("${", "}"), ("$(", ")"), ("{{", "}}"), ("%", "%"), ("$", "")]
        let isPlaceholder = marks.contains { start, end in
            guard bare.hasPrefix(start), bare.hasSuffix(end), bare.count > start.count + end.count else { return false }
            let name = bare.dropFirst(start.count).dropLast(end.count)
            return start.count > 1 || name.utf8.allSatisfy { isUpper($0) } && !name.utf8.allSatisfy { $0.isASCIIDigit }
        }
        if isPlaceholder { throw InvalidValue(allowed: "a string in which all variables are replaced") }
    }

    /// Rejects a reference in quotation marks, which would be taken literally.
    static func checkText(_ text: String, notAmong starts: [String] = []) throws(InvalidValue) {
        guard text.utf8.contains(UInt8(ascii: ":")) else { return }
        let bare = text.filter { !" \t\"'".contains($0) }.lowercased()
        if (["{env:", "{file:"] + starts).contains(where: { bare.hasPrefix($0) }) {
            throw InvalidValue(allowed: "a string; \(allowed), are objects of the settings file for secrets alone")
        }
    }

    private static func isUpper(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || byte == UInt8(ascii: "_") || byte.isASCIIDigit
    }

}

enum SecretReference {
    case variable(String)
    case file(String)

    init?(_ value: JSONValue) {
        guard case .object(let members) = value, members.count == 1, case .string(let location) = members[0].1,
            !location.isEmpty
        else { return nil }
        switch members[0].0 {
        case "env": self = .variable(location)
        case "file": self = .file(location)
        default: return nil
        }
    }
}

extension JSONValue {
    /// Whether this is a reference; false for a text with a placeholder in braces, such as a header of a hook.
    var isSecretReference: Bool {
        switch SecretReference(self) {
        case .variable(let location), .file(let location): !location.contains("{")
        case nil: false
        }
    }
}

extension StringProtocol {
    var isBlank: Bool {
        unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            switch properties.generalCategory {
            case .control, .format, .unassigned, .surrogate: return true
            // The last character is a Braille pattern without dots.
            default:
                return properties.isWhitespace || properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}"
            }
        }
    }
}
