import FoundationEssentials

/// Why a settings file cannot be used.
struct SettingsFileError: Error, Equatable {
    let reason: String
}

/// The settings file: one JSON5 object whose members are settings.
enum SettingsFile {
    /// The members by name.
    static func values(in text: String) throws(SettingsFileError) -> [String: FileValue] {
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do {
            return try decoder.decode([String: FileValue].self, from: Data(text.utf8))
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
}
