import JSON
import Program
import Text
import ThumbnailAPI

enum ReloadCommand {
    static let description = CommandDescription(
        name: "reload", summary: "reload the settings of the running service", operands: "",
        text: """
            Reloads the settings. Requests in progress keep the old ones; if there is an error, nothing changes. Uses the admin
            listener (adminBind, adminPort).

            The exit status is 0, 1 if the settings have an error, and 2 for invalid use.
            """,
        options: [CommandOption(name: "json", help: "print the service's response")], examples: ["alula reload"])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            try arguments.rejectOperands()
            let client = try AdminClient(for: arguments)
            let response = try client.blockingJSON("POST", to: AdminPath.reload)
            return Program.print(arguments.has(.json) ? response.text : summary(of: response.json?.members ?? [:]))
                ? 0 : 1
        }
    }

    private static func summary(of response: [ExactText: JSONValue]) -> String {
        let names = (response["changed"]?.elements ?? []).compactMap(\.stringValue)
        let text = names.isEmpty ? "nothing changed" : "changed: \(names.joined(separator: ", "))"
        guard let restart = response["detail"]?.stringValue else { return text }
        return text + "; " + restart
    }
}
