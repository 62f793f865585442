import Dialects
import Downloading
package import JSON
package import Text
import ThumbnailAPI

package struct SettingsLoader {
    package struct Failure: Error, Equatable {
        package let lines: [String]
        /// The lines, where those about the file begin with `FILE:LINE:COLUMN`.
        package let locatedLines: [String]

        init(_ problems: [SettingsProblem], in file: (path: String, text: String)?) {
            lines = problems.map(\.line)
            locatedLines = problems.map { problem in
                guard let file, let position = problem.position ?? SettingsFile.position(of: problem, in: file.text)
                else { return problem.line }
                return "\(file.path):\(position): \(problem.line)"
            }
        }

        package init(lines: [String]) {
            self.lines = lines
            locatedLines = lines
        }

        package static func == (left: Self, right: Self) -> Bool { left.lines == right.lines }
    }

    /// The values of settings by name.
    private struct Inputs {
        var flags: [ExactText: String] = [:]
        var variables: [ExactText: String] = [:]
        var file: [ExactText: JSONValue] = [:]
        var environment: [String: String]

        var otherService: OtherServiceEnvironment? {
            let name = ExactText(DialectSettings.environmentOf)
            return (text(of: name) ?? file[name]?.commandLineText).flatMap { .init(rawValue: $0) }
        }

        /// Returns the text of a setting; flags override variables.
        func text(of name: ExactText) -> String? { flags[name] ?? variables[name] }

        /// The settings in the file that variables override; a setting that refers to its own variable does not count.
        var overridden: [String] {
            SettingTable.all.filter { setting in
                let name = ExactText(setting.name)
                let ownVariable = JSONValue.object([("env", .string(setting.environmentName))]).text
                return file[name].map { $0.text != ownVariable } ?? false && flags[name] == nil
                    && environment[setting.environmentName] != nil
            }.map(\.name)
        }
    }

    private var problems: [SettingsProblem] = []
    private var settingsFile: (path: String, text: String)?

    /// - Parameter needsSecrets: Whether secrets must be available; false for clients of the service.
    package static func load(
        arguments: [String], environment: [String: String], needsSecrets: Bool = true,
        readFile: (String) throws(SettingsFileError) -> String
    ) throws(Failure) -> Settings {
        var loader = SettingsLoader()
        var inputs = loader.inputs(arguments, environment: environment, readFile: readFile)
        let complete = needsSecrets ? nil : CompletedSecrets(inputs.file, environment: environment)
        if let complete {
            inputs.file = complete.values
            inputs.environment = complete.environment
        }
        var settings = loader.settings(inputs)
        if let complete, complete.missing.contains(where: { $0.path == "adminToken" }),
            settings.chosen["adminToken"]?.source == .file
        {
            settings.api.adminToken = nil
        }
        guard loader.problems.isEmpty else { throw Failure(loader.problems, in: loader.settingsFile) }
        return settings
    }

    /// Reads the other service's variables, even if the settings are unusable; returns nil if no service is named.
    package static func otherServiceReading(
        arguments: [String], environment: [String: String], readFile: (String) throws(SettingsFileError) -> String
    ) -> OtherServiceEnvironment.Reading? {
        var loader = SettingsLoader()
        let inputs = loader.inputs(arguments, environment: environment, readFile: readFile)
        var settings = Settings()
        return inputs.otherService?.apply(environment, to: &settings)
    }

    package struct Check {
        package let settings: Settings
        package var problems: [SettingsProblem]
        /// Problems of secrets that the file refers to and that are not available.
        package let missing: [SettingsProblem]
    }

    /// Checks the file alone, even without its secrets.
    ///
    /// - Parameter environment: The environment in which the file's secrets are looked up.
    package static func check(_ values: [ExactText: JSONValue], environment: [String: String]) -> Check {
        var loader = SettingsLoader()
        loader.reportUnknownNames(in: values)
        let complete = CompletedSecrets(values, environment: environment)
        let settings = loader.settings(Inputs(file: complete.values, environment: complete.environment))
        return Check(settings: settings, problems: loader.problems, missing: complete.missing)
    }

    private mutating func inputs(
        _ arguments: [String], environment: [String: String], readFile: (String) throws(SettingsFileError) -> String
    ) -> Inputs {
        var inputs = Inputs(environment: environment)
        inputs.flags = flags(in: arguments)
        inputs.variables = variables(in: environment)
        inputs.file = file(at: inputs.text(of: "config"), readFile)
        return inputs
    }

    private mutating func settings(_ inputs: Inputs) -> Settings {
        var settings = Settings()
        OpenTelemetryEnvironment.apply(inputs.environment, to: &settings)
        // All settings override another service's variables, so read those first.
        if let reading = inputs.otherService?.apply(inputs.environment, to: &settings) {
            settings.otherServiceVariables = reading.variables
            problems += reading.problems.map { SettingsProblem($0) }
        }
        readTexts(inputs, into: &settings)
        settings.downloads.origins = Origins(settings.dialects.origins)
        readObjects(inputs, into: &settings)
        settings.overridden = inputs.overridden
        settings.deriveDialects()
        if problems.isEmpty {
            problems = settings.contradictions.map { contradiction in
                let path = contradiction.settings.first { inputs.file[ExactText($0)] != nil }
                return SettingsProblem(path: path, line: contradiction.line)
            }
        }
        return settings
    }

    private mutating func readTexts(_ inputs: Inputs, into settings: inout Settings) {
        let complete = CompletedSecrets(inputs.file, environment: inputs.environment)
        for setting in SettingTable.all {
            let name = ExactText(setting.name)
            if setting.readObject == nil, inputs.text(of: name) != nil, let value = complete.values[name] {
                // Report it as an error, although it has no effect and may name a missing secret.
                var unused = settings
                apply(setting, value: value, environment: complete.environment, to: &unused)
            }
            if let text = inputs.flags[name] {
                apply(setting, text: text, from: .flag, spelling: setting.flag, to: &settings)
            } else if let text = inputs.variables[name] {
                apply(setting, text: text, from: .environment, spelling: setting.environmentName, to: &settings)
            } else if let value = inputs.file[name], setting.readObject == nil {
                apply(setting, value: value, environment: inputs.environment, to: &settings)
            }
        }
    }

    /// Reads the objects in the file, which may depend on all other settings, and on objects before them.
    private mutating func readObjects(_ inputs: Inputs, into settings: inout Settings) {
        for setting in SettingTable.all {
            guard let read = setting.readObject, let value = inputs.file[ExactText(setting.name)] else { continue }
            problems += read(value, inputs.environment, &settings)
            settings.record(setting, text: value.text, shown: value.summary, from: .file)
        }
    }

    private mutating func apply(
        _ setting: Setting, value: JSONValue, environment: [String: String], to settings: inout Settings
    ) {
        let spelling = "\(setting.name) in the settings file"
        do throws(InvalidValue) {
            let text: String
            if setting.secrecy == .secret {
                text = try SecretReferences(environment: environment).text(of: value)
            } else if let written = value.commandLineText {
                text = written
            } else {
                throw InvalidValue(allowed: "a string, a number, on or off, or a list of these: no object and no null")
            }
            apply(setting, text: text, from: .file, spelling: spelling, to: &settings, path: setting.name)
        } catch {
            problems.append(SettingsProblem(spelling, fault: error, path: setting.name))
        }
    }

    private mutating func apply(
        _ setting: Setting, text: String, from source: EffectiveSetting.Source, spelling: String,
        to settings: inout Settings, path: String? = nil
    ) {
        do {
            try settings.set(setting, to: text, from: source)
        } catch {
            let shown = setting.secrecy == .none ? text : nil
            problems.append(SettingsProblem(spelling, fault: error, text: shown, path: path))
        }
    }

    private mutating func flags(in arguments: [String]) -> [ExactText: String] {
        var values: [ExactText: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-") else {
                // This may be the rest of a secret that contains a space.
                problems.append(SettingsProblem("expected a setting; see `alula serve --help`"))
                continue
            }
            let fields = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let name = Self.name(ofFlag: fields[0]) else {
                problems.append(
                    SettingsProblem(
                        fields[0] + Self.unknown(fields[0], among: SettingTable.all.map(\.flag) + ["--config"])))
                if argument.hasPrefix("--"), fields.count == 1, rest.first?.hasPrefix("--") == false {
                    rest.removeFirst()
                }
                continue
            }
            guard let value = fields.count == 2 ? fields[1] : rest.popFirst() else {
                problems.append(SettingsProblem("\(argument): missing value"))
                continue
            }
            if values.updateValue(value, forKey: ExactText(name)) != nil {
                problems.append(SettingsProblem("\(fields[0]): repeated"))
            }
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
                problems.append(
                    SettingsProblem(
                        variable
                            + Self.unknown(variable, among: SettingTable.all.map(\.environmentName), prefix: "ALULA_")))
            }
        }
        return values
    }

    private mutating func file(
        at path: String?, _ readFile: (String) throws(SettingsFileError) -> String
    ) -> [ExactText: JSONValue] {
        guard let path else { return [:] }
        do {
            let text = try readFile(path)
            settingsFile = (path, text)
            let values = try SettingsFile.values(in: text)
            reportUnknownNames(in: values)
            return values
        } catch {
            var problem = SettingsProblem("--config: cannot use \"\(path)\": \(error.reason)")
            problem.position = error.position
            problems.append(problem)
            return [:]
        }
    }

    private mutating func reportUnknownNames(in file: [ExactText: JSONValue]) {
        for name in file.keys.sorted() where !SettingTable.all.contains(where: { name == ExactText($0.name) }) {
            problems.append(
                SettingsProblem(
                    path: name.string,
                    line: "\(name) in the settings file"
                        + Self.unknown(name.string, among: SettingTable.all.map(\.name)), isAboutName: true))
        }
    }

    /// Returns the end of an error, with a suggestion.
    ///
    /// - Parameter prefix: The prefix of all names, which is ignored in comparisons.
    private static func unknown(_ name: String, among names: [String], prefix: String = "") -> String {
        let rest = { (name: String) in String(name.dropFirst(prefix.count)) }
        let nearest = NearestName.of(rest(name), among: names.map(rest)).map { prefix + $0 }
        return ": no such setting; " + (nearest.map { "did you mean \($0)?" } ?? "see `alula serve --help`")
    }

    private static func name(ofFlag flag: String) -> String? {
        if flag == "--config" { return "config" }
        return SettingTable.all.first { $0.flag == flag }?.name
    }
}
