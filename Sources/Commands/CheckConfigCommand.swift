import Downloading
import Program
import Settings

enum CheckConfigCommand {
    private static let flag = "--check-config"

    /// Exits with status 0 if the file is valid, otherwise with the status of a start that the settings prevent.
    static func run(_ arguments: [String]) -> Never {
        guard let path = path(in: arguments) else {
            Program.fail(
                ["alula serve: \(flag) takes the path of a settings file, and nothing beside it"],
                status: ExitStatus.usageError)
        }
        do throws(SettingsFileError) {
            let text = try SettingsFile.read(path)
            let lines = try faults(in: text, environment: Program.environment)
            if lines.isEmpty { Program.succeed("\(path): can be used") }
            Program.fail(lines.map { path + $0 }, status: ExitStatus.wrongSettings)
        } catch {
            let place = error.position.map { ":\($0)" } ?? ""
            Program.fail(["\(path)\(place): \(error.reason)"], status: ExitStatus.wrongSettings)
        }
    }

    /// One line each: `:LINE:COLUMN: ` and the error, or without a position.
    static func faults(in text: String, environment: [String: String]) throws(SettingsFileError) -> [String] {
        var (settings, problems) = SettingsLoader.check(try SettingsFile.values(in: text), environment: environment)
        do {
            try settings.downloads.origins.checkFiles()
        } catch {
            problems.append(SettingsProblem(path: "origins.\(error.origin)", line: "\(error)"))
        }
        return problems.map { problem in
            let position = SettingsFile.position(of: problem, in: text).map { ":\($0)" } ?? ""
            return "\(position): \(problem.line)"
        }
    }

    private static func path(in arguments: [String]) -> String? {
        guard let first = arguments.first else { return nil }
        if first == flag { return arguments.count == 2 ? arguments[1] : nil }
        guard arguments.count == 1, first.hasPrefix(flag + "=") else { return nil }
        return String(first.dropFirst(flag.count + 1))
    }
}
