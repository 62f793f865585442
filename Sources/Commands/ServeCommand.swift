import Composition
import Program
import Settings
import Telemetry

enum ServeCommand {
    static let description = CommandDescription(
        name: "serve", summary: "start the service", operands: "[--config FILE] [SETTING VALUE …] [--demo]", text: "",
        options: [
            CommandOption(
                name: "check-config", form: "FILE", help: "report errors and unsafe settings in a file and exit",
                completion: .files),
            CommandOption(name: "print-config", help: "print all settings with their sources and exit"),
            CommandOption(
                name: "demo", help: "show a sample image on the page and accept dropped images; binds 127.0.0.1"),
        ])

    static func run(_ arguments: [String]) -> Never {
        if arguments.contains("--help") || arguments.contains("-h") { Program.succeed(help) }
        if let first = arguments.first, first.hasPrefix("--check-config") { CheckConfigCommand.run(arguments) }
        let isDemo = arguments.contains("--demo")
        let printsSettings = arguments.contains("--print-config")
        do {
            let read = { @Sendable () throws(SettingsLoader.Failure) in
                try SettingsLoader.load(
                    arguments: arguments.filter { $0 != "--demo" && $0 != "--print-config" },
                    environment: Program.environment, readFile: SettingsFile.read)
            }
            let settings = try read()
            if printsSettings { Program.succeed(EffectiveSetting.lines(settings.effective)) }
            Lifecycle.run(settings, isDemo: isDemo, rereading: read)
        } catch {
            Program.fail(error.locatedLines.map { "alula: " + $0 }, status: ExitStatus.wrongSettings)
        }
    }

    static var help: String {
        let columnWidth = SettingTable.all.map(\.flag.count).max() ?? 0
        let lines = SettingTable.all.map { setting in
            let padding = String(repeating: " ", count: columnWidth - setting.flag.count)
            return "  \(setting.flag)\(padding)  \(setting.help) (\(setting.defaultText))"
        }
        return """
            Usage: alula serve [--config FILE] [SETTING VALUE …] [--demo]
                   alula serve [--config FILE] [SETTING VALUE …] --print-config
                   alula serve --check-config FILE

            The command line takes precedence over the environment (--max-active-downloads is
            ALULA_MAX_ACTIVE_DOWNLOADS) and the JSON5 file (maxActiveDownloads), in this order.
            Sizes: 512, 64KiB, 100MiB, 2GiB. Durations: 250ms, 3s, 10m, 24h. Lists: separated by commas.

              --config FILE        the settings file, or ALULA_CONFIG
              --check-config FILE  report errors and unsafe settings in a file, with line and column, and exit
              --print-config       print the value and source of each setting as JSON, without secrets, and exit
              --demo               show a sample image on the page and accept dropped images; binds 127.0.0.1

            Settings (default):
            \(lines.joined(separator: "\n"))
            """
    }
}
