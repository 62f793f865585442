import Coordination
import Glibc
import ImageSandbox
import Program
import Settings

enum CommandRunner {
    /// Prints the help if requested, and runs `body` until it ends or a signal cancels it.
    static func run(
        _ command: CommandDescription, with arguments: [String],
        _ body: @escaping @Sendable (CommandArguments) async throws -> CInt
    ) -> Never {
        let parsed: CommandArguments
        do throws(UsageError) {
            parsed = try CommandArguments(arguments, for: command)
        } catch {
            // Print the help even if an option is invalid.
            if arguments.contains("--help") { Program.succeed(command.helpText) }
            fail(error, of: command)
        }
        if parsed.has(.help) { Program.succeed(command.helpText) }
        if command.takesFiles, parsed.operands.count == 1 { ForkedWorker.fork() }
        // Block signals before any thread exists, so that all threads inherit the mask and only the wait below gets
        // them.
        let signals = AwaitedSignals([SIGTERM, SIGINT, SIGHUP])
        signal(SIGPIPE, SIG_IGN)
        let received = Locked<CInt?>(nil)
        let work = Task {
            let status = await status(of: command, with: parsed, body)
            if let number = received.withLock({ $0 }) { die(of: number) }
            exit(status)
        }
        let first = signals.blockingNext()
        received.withLock { $0 = first }
        work.cancel()
        // The work ends at its next step; do not wait for that after a second signal or a timeout.
        Task {
            try? await Task.sleep(for: .seconds(2))
            die(of: first)
        }
        die(of: signals.blockingNext())
    }

    static func settings(
        _ arguments: CommandArguments, needsSecrets: Bool = true
    ) throws(ConfigurationError) -> Settings {
        do throws(SettingsLoader.Failure) {
            return try SettingsLoader.load(
                arguments: arguments.settings, environment: Program.environment, needsSecrets: needsSecrets,
                readFile: SettingsFile.read)
        } catch {
            throw ConfigurationError(lines: error.lines)
        }
    }

    struct ConfigurationError: Error {
        let lines: [String]
    }

    private static func status(
        of command: CommandDescription, with arguments: CommandArguments,
        _ body: @Sendable (CommandArguments) async throws -> CInt
    ) async -> CInt {
        do {
            return try await body(arguments)
        } catch let error as UsageError {
            fail(error, of: command)
        } catch let error as ConfigurationError {
            for line in error.lines { Program.printError(line) }
            return ExitStatus.usageError
        } catch is CancellationError {
            return ExitStatus.failed
        } catch let error as CommandFailure {
            Program.printError(error.reason)
            return ExitStatus.failed
        } catch {
            Program.printError("cannot start: \(error)")
            return ExitStatus.cannotStart
        }
    }

    private static func fail(_ error: UsageError, of command: CommandDescription) -> Never {
        Program.fail(
            ["alula \(command.name): \(error.reason)", "See `alula \(command.name) --help`."],
            status: ExitStatus.usageError)
    }

    /// Ends the process as the signal would, so that the shell that started it also stops.
    private static func die(of number: CInt) -> Never {
        signal(number, SIG_DFL)
        kill(getpid(), number)
        AwaitedSignals.unblock(number)
        _exit(128 + number)
    }
}
