import ImageSandbox
import Program
import Text

package enum AlulaCommand {
    private static var help: String {
        """
        Alula \(Program.version): image thumbnails over HTTP. One fetch, one decode, every size.

        Usage: alula COMMAND [OPTIONS]

        \(groups.map { "\($0.key):\n\(table($0.value))" }.joined(separator: "\n\n"))

          alula thumbnail cat.jpg --w 300 -o cat-small.webp

        `alula COMMAND --help` describes a command.
        """
    }

    typealias Command = (description: CommandDescription, run: @Sendable ([String]) -> Never)

    static let all = groups.flatMap(\.value)

    private static let groups: KeyValuePairs<String, [Command]> = [
        "Images, without a server": [
            (ThumbnailCommand.description, ThumbnailCommand.run), (BatchCommand.description, BatchCommand.run),
            (InfoCommand.description, InfoCommand.run),
        ],
        "The service": [
            (ServeCommand.description, ServeCommand.run), (StatusCommand.description, StatusCommand.run),
            (PrefetchCommand.description, PrefetchCommand.run), (RefreshCommand.description, RefreshCommand.run),
            (PurgeCommand.description, PurgeCommand.run), (ReloadCommand.description, ReloadCommand.run),
            (OriginCommands.hold, OriginCommands.runHold), (OriginCommands.resume, OriginCommands.runResume),
            (ExplainCommand.description, ExplainCommand.run), (SignCommand.description, SignCommand.run),
            (PlanCommand.description, PlanCommand.run),
        ],
        "The program": [
            (SelfTestCommand.description, SelfTestCommand.run), (CompletionCommand.description, CompletionCommand.run),
            (VersionCommand.description, VersionCommand.run),
        ],
    ]

    private static func table(_ commands: [Command]) -> String {
        CommandDescription.table(commands.map { ($0.description.name, $0.description.summary) })
    }

    package static func run() -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        // Internal: the service starts its workers with this command.
        case SandboxWorker.command: SandboxWorker.run(rest)
        case "--version": Program.succeed(Program.build)
        case "--help", "-h", "help": Program.succeed(help)
        case nil: Program.fail([help], status: ExitStatus.usageError)
        case .some(let name):
            guard let command = all.first(where: { $0.description.name == name }) else {
                let nearest =
                    NearestName.of(name, among: all.map(\.description.name)).map { "; did you mean \($0)?" } ?? ""
                Program.fail(
                    ["alula: unknown command \(Program.line(name))\(nearest)", "See `alula --help`."],
                    status: ExitStatus.usageError)
            }
            command.run(rest)
        }
    }
}
