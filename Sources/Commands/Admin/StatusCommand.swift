import JSON
import Program
import Text
import ThumbnailAPI

enum StatusCommand {
    static let description = CommandDescription(
        name: "status", summary: "print the state of the running service", operands: "[--json | --ready]",
        text: """
            Prints a summary from the admin listener of the running service (adminBind, adminPort).

            With --ready, requests /health/ready from the public listener (bind, port) and prints nothing if the service is
            ready: for health checks of containers and supervisors. Reads the port from the environment and the settings
            file, like the service.

            The exit status is 0, 1 if no service responds or it is not ready, and 2 for invalid use.
            """,
        options: [
            CommandOption(name: "json", help: "print the service's response"),
            ready,
        ],
        examples: ["alula status", "alula status --admin-port 9191 --json", "alula status --ready"])

    private static let ready = CommandOption(
        name: "ready", help: "check whether the service is ready; print nothing if it is")

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            try arguments.rejectOperands()
            let settings = try CommandRunner.settings(arguments, needsSecrets: false)
            if arguments.has(ready) {
                guard !arguments.has(.json) else { throw UsageError("--ready and --json cannot be combined") }
                _ = try AdminClient(publicOf: settings).blockingJSON("GET", to: "/health/ready")
                return 0
            }
            let client = try AdminClient(settings)
            let status = try client.blockingJSON("GET", to: AdminPath.status)
            if arguments.has(.json) { return Program.print(status.text) ? 0 : 1 }
            guard let members = status.json?.members else {
                throw CommandFailure(
                    code: "not_json", reason: "the service at \(client.endpoint) did not respond with JSON")
            }
            let caches = try client.blockingJSON("GET", to: AdminPath.cache).json
            return Program.print(StatusText.lines(status: members, caches: caches).joined(separator: "\n")) ? 0 : 1
        }
    }
}
