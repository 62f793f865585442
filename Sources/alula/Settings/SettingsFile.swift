import FoundationEssentials

/// Why a settings file cannot be used.
struct SettingsFileError: Error, Equatable {
    let reason: String
}

/// The settings file: one JSON5 object whose members are settings.
enum SettingsFile {
    /// The text of each member; lists are joined with commas.
    static func values(in text: String) throws(SettingsFileError) -> [String: String] {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            return try decoder.decode([String: Member].self, from: Data(text.utf8)).mapValues(\.text)
        } catch {
            throw SettingsFileError(reason: "it must be one JSON5 object of settings")
        }
    }

    /// The text of the file at `path`.
    static func read(_ path: String) throws(SettingsFileError) -> String {
        do {
            return try String(contentsOf: URL(filePath: path), encoding: .utf8)
        } catch {
            throw SettingsFileError(reason: "it cannot be read as UTF-8 text")
        }
    }

    private struct Member: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            if let container = try? decoder.singleValueContainer() {
                if let value = try? container.decode(String.self) {
                    text = value
                    return
                }
                if let value = try? container.decode(Bool.self) {
                    text = value ? "on" : "off"
                    return
                }
                if let value = try? container.decode(Int.self) {
                    text = String(value)
                    return
                }
                if let values = try? container.decode([Member].self) {
                    text = values.map(\.text).joined(separator: ",")
                    return
                }
            }
            // An object: only settings of later versions have one, and these are refused by name.
            text = "{…}"
        }
    }
}
