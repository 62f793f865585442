import FoundationEssentials
import JSON
import Text

/// Why a settings file cannot be used.
struct SettingsFileError: Error, Equatable {
    let reason: String
}

/// The settings file: one JSON5 object whose members are settings.
enum SettingsFile {
    /// The members by name.
    static func values(in text: String) throws(SettingsFileError) -> [ExactText: JSONValue] {
        let value: JSONValue
        do {
            value = try JSONReader.value(in: Array(text.utf8), dialect: .json5)
        } catch {
            let line = text.utf8.prefix(error.offset).count { $0 == 0x0a } + 1
            throw SettingsFileError(reason: "it is not JSON5: \(error.reason), in line \(line)")
        }
        guard let members = value.members else {
            throw SettingsFileError(reason: "it must be one JSON5 object of settings")
        }
        return members
    }

    /// The text of the file at `path`.
    static func read(_ path: String) throws(SettingsFileError) -> String {
        do {
            return try String(contentsOf: URL(filePath: path), encoding: .utf8)
        } catch {
            throw SettingsFileError(reason: "it cannot be read as UTF-8 text")
        }
    }
}

/// Values in the settings file are read like values on the command line.
extension JSONValue {
    /// The value as it would be written on the command line; lists are joined with commas.
    var commandLineText: String {
        switch self {
        case .string(let text): text
        case .bool(let isOn): isOn ? "on" : "off"
        case .int(let number): String(number)
        case .double(let number): "\(number)"
        case .array(let values): values.map(\.commandLineText).joined(separator: ",")
        case .object: "{…}"
        case .null: "null"
        }
    }
}
