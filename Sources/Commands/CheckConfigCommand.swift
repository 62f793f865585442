import Composition
import Downloading
import Program
import Settings

enum CheckConfigCommand {
    private static let flag = "--check-config"

    /// Exits with status 0 if the file is valid, otherwise with the status of a start with invalid settings.
    static func run(_ arguments: [String]) -> Never {
        guard let path = path(in: arguments) else {
            Program.fail(["alula serve: \(flag) takes only the path of a settings file"], status: ExitStatus.usageError)
        }
        do throws(SettingsFileError) {
            let text = try SettingsFile.read(path)
            let report = try report(on: text, environment: Program.environment)
            guard report.faults.isEmpty else {
                Program.fail(report.faults.map { path + $0 }, status: ExitStatus.wrongSettings)
            }
            for line in report.warnings { Program.printToStandardError(Program.line(path + line) + "\n") }
            Program.succeed("\(path): can be used")
        } catch {
            let position = error.position.map { ":\($0)" } ?? ""
            Program.fail(["\(path)\(position): \(error.reason)"], status: ExitStatus.wrongSettings)
        }
    }

    /// Prints a line for each problem: `:LINE:COLUMN: ` and the text, or only the text.
    static func report(
        on text: String, environment: [String: String]
    ) throws(SettingsFileError) -> (faults: [String], warnings: [String]) {
        var check = SettingsLoader.check(try SettingsFile.values(in: text), environment: environment)
        do {
            try check.settings.downloads.origins.checkFiles()
        } catch {
            check.problems.append(SettingsProblem(path: "origins.\(error.origin)", line: "\(error)"))
        }
        let warnings = check.missing + check.settings.warnings(memory: SystemMemory().limit).map(\.problem)
        return (
            check.problems.map { line(of: $0, in: text, kind: "") },
            warnings.map { line(of: $0, in: text, kind: "warning: ") }
        )
    }

    private static func line(of problem: SettingsProblem, in text: String, kind: String) -> String {
        let position = SettingsFile.position(of: problem, in: text).map { ":\($0)" } ?? ""
        return "\(position): \(kind)\(problem.line)"
    }

    private static func path(in arguments: [String]) -> String? {
        guard let first = arguments.first else { return nil }
        if first == flag { return arguments.count == 2 ? arguments[1] : nil }
        guard arguments.count == 1, first.hasPrefix(flag + "=") else { return nil }
        return String(first.dropFirst(flag.count + 1))
    }
}
