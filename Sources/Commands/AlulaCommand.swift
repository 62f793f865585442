import ImageSandbox
import Program
import Text

package enum AlulaCommand {
    private static var help: String {
        """
        Alula \(Program.version): image thumbnails over HTTP. One fetch, one decode, every size.

        Usage: alula COMMAND [OPTIONS]

        Images, without a server:
        \(list(["thumbnail", "batch", "info"]))

        The service:
        \(list(["serve", "status", "prefetch", "refresh", "purge", "reload", "hold", "resume", "explain", "sign", "plan"]))

        The program:
        \(list(["self-test", "completion", "version"]))

          alula thumbnail cat.jpg --w 300 -o cat-small.webp

        `alula COMMAND --help` describes a command.
        """
    }

    static let all: [(description: CommandDescription, run: @Sendable ([String]) -> Never)] = [
        (ThumbnailCommand.description, ThumbnailCommand.run), (BatchCommand.description, BatchCommand.run),
        (InfoCommand.description, InfoCommand.run), (ServeCommand.description, ServeCommand.run),
        (StatusCommand.description, StatusCommand.run), (PrefetchCommand.description, PrefetchCommand.run),
        (RefreshCommand.description, RefreshCommand.run), (PurgeCommand.description, PurgeCommand.run),
        (ReloadCommand.description, ReloadCommand.run),
        (OriginCommands.hold, OriginCommands.runHold), (OriginCommands.resume, OriginCommands.runResume),
        (ExplainCommand.description, ExplainCommand.run), (SignCommand.description, SignCommand.run),
        (PlanCommand.description, PlanCommand.run),
        (SelfTestCommand.description, SelfTestCommand.run), (CompletionCommand.description, CompletionCommand.run),
        (VersionCommand.description, VersionCommand.run),
    ]

    private static func list(_ names: [String]) -> String {
        let rows = names.map { name in (name, all.first { $0.description.name == name }?.description.summary ?? "") }
        return CommandDescription.table(rows)
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
                    [
                        "alula: unknown command \(Program.line(name))\(nearest)",
                        "See `alula --help`.",
                    ], status: ExitStatus.usageError)
            }
            command.run(rest)
        }
    }
}
