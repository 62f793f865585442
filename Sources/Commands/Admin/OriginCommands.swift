import JSON
import Text
import ThumbnailAPI

/// The commands `hold` and `resume`.
enum OriginCommands {
    static let hold = description(
        "hold", summary: "stop new transfers to an origin of the running service",
        text: """
            Stops new transfers to these origins until they are resumed or the service restarts. Cached sources are still served,
            even stale ones; other requests get 503 origin_held. Transfers in progress continue. ORIGIN is the name of a named
            origin, or any URL of the origin. Only this instance is affected. Uses the admin listener (adminBind, adminPort).
            """, examples: ["alula hold shop-media", "alula hold https://img.example.com"])

    static let resume = description(
        "resume", summary: "allow transfers to a held origin again",
        text: """
            Allows transfers that `alula hold` stopped. Uses the admin listener (adminBind, adminPort).
            """, examples: ["alula resume shop-media"])

    private static func description(
        _ name: String, summary: String, text: String, examples: [String]
    ) -> CommandDescription {
        CommandDescription(
            name: name, summary: summary, operands: "ORIGIN…",
            text: """
                \(text)

                The exit status is 0, 1 if the service rejected an origin, and 2 for invalid use.
                """, options: [.responses], examples: examples)
    }

    static func runHold(_ arguments: [String]) -> Never { run(hold, with: arguments) }

    static func runResume(_ arguments: [String]) -> Never { run(resume, with: arguments) }

    private static func run(_ description: CommandDescription, with arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            guard !arguments.operands.isEmpty else { throw UsageError("missing origin") }
            return try SourceRequests(
                client: try AdminClient(for: arguments), method: "POST", path: AdminPath.origins + description.name,
                parameter: "origin", isJSON: arguments.has(.json), summary: summary
            ).run(arguments.operands)
        }
    }

    static func summary(of response: [ExactText: JSONValue]) -> String {
        guard let state = response["state"]?.stringValue else { return "unknown" }
        return state == "not_reachable" ? "not reachable" : state
    }
}
