import ImageSandbox

/// The command line: picks the command and explains itself.
enum AlulaCommand {
    private static let help = """
        Alula \(Program.version): image thumbnails over HTTP. One fetch, one decode, every size.

        Usage: alula COMMAND [OPTIONS]

        Commands:
          serve      start the service
          explain    say what URLs mean, also those of imgproxy, thumbor, imagor and wsrv
          sign       add a signature to a request target
          self-test  check the image library, the decoders' limits and the encoders on this machine
          version    print the version

        `alula COMMAND --help` explains a command.
        """

    /// Runs the command of the process's arguments and exits.
    static func run() -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "serve": ServeCommand.run(rest)
        case "explain": ExplainCommand.run(rest)
        case "sign": SignCommand.run(rest)
        case "self-test": SelfTestCommand.run(rest)
        // For the service itself, which starts its workers so.
        case SandboxWorker.command: SandboxWorker.run(rest)
        case "version", "--version": Program.succeed(Program.version)
        case "--help", "-h", "help": Program.succeed(help)
        case nil: Program.fail([help], status: 64)
        case .some(let unknown): Program.fail(["alula: no such command: \(unknown)", "", help], status: 64)
        }
    }
}
