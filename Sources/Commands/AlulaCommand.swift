import ImageSandbox
import Program
import Text

/// The command line: selects the command and prints help.
package enum AlulaCommand {
    private static var help: String {
        """
        Alula \(Program.version): image thumbnails over HTTP. One fetch, one decode, every size.

        Usage: alula COMMAND [OPTIONS]

        Images, without a server:
        \(list(["thumbnail", "batch", "info"]))

        The service:
        \(list(["serve", "status", "prefetch", "refresh", "purge", "explain", "sign"]))

        The program:
        \(list(["self-test", "completion", "version"]))

          alula thumbnail cat.jpg --w 300 -o cat-small.webp

        `alula COMMAND --help` explains a command.
        """
    }

    struct Entry {
        let name: String
        let summary: String
        let help: String
        /// The description of the command's arguments; nil if the command parses them itself.
        var description: CommandDescription?
        let run: ([String]) -> Never

        init(_ name: String, _ summary: String, help: String, run: @escaping ([String]) -> Never) {
            (self.name, self.summary, self.help, self.run) = (name, summary, help, run)
        }

        init(_ description: CommandDescription, run: @escaping ([String]) -> Never) {
            self.init(description.name, description.summary, help: description.helpText, run: run)
            self.description = description
        }
    }

    static var all: [Entry] {
        [
            Entry(ThumbnailCommand.description, run: ThumbnailCommand.run),
            Entry(BatchCommand.description, run: BatchCommand.run),
            Entry(InfoCommand.description, run: InfoCommand.run),
            Entry("serve", "start the service", help: ServeCommand.help, run: ServeCommand.run),
            Entry(StatusCommand.description, run: StatusCommand.run),
            Entry(PrefetchCommand.description, run: PrefetchCommand.run),
            Entry(RefreshCommand.description, run: RefreshCommand.run),
            Entry(PurgeCommand.description, run: PurgeCommand.run),
            Entry(
                "explain", "say what URLs mean, also those of other services",
                help: ExplainCommand.help, run: ExplainCommand.run),
            Entry("sign", "add a signature to a request target", help: SignCommand.help, run: SignCommand.run),
            Entry(
                "self-test", "check the image library, the decoders' limits and the encoders on this machine",
                help: SelfTestCommand.help, run: SelfTestCommand.run),
            Entry(CompletionCommand.description, run: CompletionCommand.run),
            Entry(VersionCommand.description, run: VersionCommand.run),
        ]
    }

    private static func list(_ names: [String]) -> String {
        let rows = names.map { name in (name, all.first { $0.name == name }?.summary ?? "") }
        return CommandDescription.table(rows)
    }

    package static func run() -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        // Internal: the service starts its workers with this command.
        case SandboxWorker.command: SandboxWorker.run(rest)
        case "--version": Program.succeed(Program.version)
        case "--help", "-h", "help": Program.succeed(help)
        case nil: Program.fail([help], status: ExitStatus.wrongUse)
        case .some(let name):
            guard let command = all.first(where: { $0.name == name }) else {
                let nearest = NearestName.of(name, among: all.map(\.name)).map { "; did you mean \($0)?" } ?? ""
                Program.fail(
                    [
                        "alula: there is no command \(Program.line(name))\(nearest)",
                        "`alula --help` lists the commands.",
                    ], status: ExitStatus.wrongUse)
            }
            command.run(rest)
        }
    }
}
