import DecodeSandbox
import Glibc

/// The command line: picks the command, explains itself, turns failures into an exit status.
enum AlulaCommand {
    static let version = "0.1.0"

    private static let help = """
        Alula \(version): image thumbnails over HTTP. One fetch, one decode, every size.

        Usage: alula COMMAND [OPTIONS]

        Commands:
          serve      start the service
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
        case "sign": SignCommand.run(rest)
        case "self-test": SelfTestCommand.run(rest)
        // For the service itself, which starts its workers so.
        case DecodeWorker.command: DecodeWorker.run(rest)
        case "version", "--version": succeed(version)
        case "--help", "-h", "help": succeed(help)
        case nil: fail([help], status: 64)
        case .some(let unknown): fail(["alula: no such command: \(unknown)", "", help], status: 64)
        }
    }

    /// Prints a text on standard output at once, a pipe too, and exits with status 0.
    static func succeed(_ text: String) -> Never {
        say(text)
        exit(0)
    }

    /// Prints a text on standard output at once, a pipe too.
    static func say(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// Prints lines on standard error and exits.
    static func fail(_ lines: [String], status: CInt) -> Never {
        write(lines.joined(separator: "\n") + "\n", to: STDERR_FILENO)
        exit(status)
    }

    private static func write(_ text: String, to descriptor: CInt) {
        _ = unsafe Glibc.write(descriptor, text, text.utf8.count)
    }
}
