import Downloading
import JSON
import Text

/// Puts the settings together: flag, else environment, else file, else default; reports everything that is wrong at once.
struct SettingsLoader {
    /// Everything that stops the start, one line each.
    struct Failure: Error, Equatable {
        let lines: [String]
    }

    private var problems: [String] = []

    /// The settings that these sources give.
    ///
    /// - Parameters:
    ///   - arguments: What follows the command on the command line: `--name value` or `--name=value`.
    ///   - environment: The process's environment.
    ///   - readFile: Reads the text of the settings file.
    /// - Throws: ``Failure``.
    static func load(
        arguments: [String], environment: [String: String], readFile: (String) throws(SettingsFileError) -> String
    ) throws(Failure) -> Settings {
        var loader = SettingsLoader()
        let flags = loader.flags(in: arguments)
        let variables = loader.variables(in: environment)
        let file = loader.file(at: flags["config"] ?? variables["config"], readFile)
        var settings = Settings()
        for setting in SettingTable.all {
            if let text = flags[ExactText(setting.name)] {
                loader.apply(setting, text, setting.flag, to: &settings)
            } else if let text = variables[ExactText(setting.name)] {
                loader.apply(setting, text, setting.environmentName, to: &settings)
            } else if setting.name == SettingTable.origins, let value = file[ExactText(setting.name)] {
                loader.readOrigins(value, environment, into: &settings)
            } else if let text = file[ExactText(setting.name)]?.commandLineText {
                loader.apply(setting, text, "\(setting.name) in the settings file", to: &settings)
            }
        }
        if loader.problems.isEmpty { loader.problems = settings.contradictions }
        guard loader.problems.isEmpty else { throw Failure(lines: loader.problems) }
        return settings
    }

    private mutating func apply(_ setting: Setting, _ text: String, _ spelling: String, to settings: inout Settings) {
        do {
            try setting.apply(&settings, text)
        } catch {
            // The text before an at sign could be a password.
            let shown = setting.isSecret || text.utf8.contains(UInt8(ascii: "@")) ? "its value" : "\"\(text)\""
            problems.append("\(spelling): \(shown) is not allowed; allowed is \(error.allowed)")
        }
    }

    private mutating func readOrigins(
        _ value: JSONValue, _ environment: [String: String], into settings: inout Settings
    ) {
        let (origins, lines) = OriginsReader.read(value, environment: environment)
        settings.downloads.origins = origins
        problems += lines
    }

    private mutating func flags(in arguments: [String]) -> [ExactText: String] {
        var values: [ExactText: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = Self.name(ofFlag: parts[0]) else {
                problems.append("\(argument): no such setting; `alula serve --help` lists them")
                if argument.hasPrefix("--"), parts.count == 1, rest.first?.hasPrefix("--") == false {
                    rest.removeFirst()
                }
                continue
            }
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                problems.append("\(argument): the value is missing")
                continue
            }
            if values.updateValue(value, forKey: ExactText(name)) != nil { problems.append("\(parts[0]): given twice") }
        }
        return values
    }

    private mutating func variables(in environment: [String: String]) -> [ExactText: String] {
        var values: [ExactText: String] = [:]
        for (variable, value) in environment.sorted(by: { $0.key < $1.key }) where variable.hasPrefix("ALULA_") {
            if variable == "ALULA_CONFIG" {
                values["config"] = value
            } else if let setting = SettingTable.all.first(where: { $0.environmentName == variable }) {
                values[ExactText(setting.name)] = value
            } else {
                problems.append("\(variable): no such setting; `alula serve --help` lists them")
            }
        }
        return values
    }

    private mutating func file(
        at path: String?, _ readFile: (String) throws(SettingsFileError) -> String
    ) -> [ExactText: JSONValue] {
        guard let path else { return [:] }
        do {
            let values = try SettingsFile.values(in: try readFile(path))
            for name in values.keys.sorted() where !SettingTable.all.contains(where: { name == ExactText($0.name) }) {
                problems.append("\(name) in the settings file: no such setting; `alula serve --help` lists them")
            }
            return values
        } catch {
            problems.append("--config: \"\(path)\" cannot be used: \(error.reason)")
            return [:]
        }
    }

    private static func name(ofFlag flag: String) -> String? {
        if flag == "--config" { return "config" }
        return SettingTable.all.first { $0.flag == flag }?.name
    }
}
