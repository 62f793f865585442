import JSON
import Text

/// `alula refresh`: has a running service revalidate sources at their origins.
enum RefreshCommand {
    static let description = CommandDescription(
        name: "refresh", summary: "have the running service ask origins whether sources have changed",
        operands: "URL…",
        text: """
            Has the running service ask the origins of the sources at these URLs now, however fresh its copies are. What was made
            of an earlier version is served no more. URL may be NAME:PATH of a named origin. It speaks to the operators' listener
            (adminBind, adminPort).

            The exit status is 0, 1 if an origin could not tell, and 2 for wrong use.
            """,
        options: [CommandOption(name: "json", help: "print the service's own answers")],
        examples: ["alula refresh https://example.com/cat.jpg", "alula refresh photos:2026/a.jpg"])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            guard !arguments.operands.isEmpty else { throw WrongUse("a URL is needed") }
            return try SourceRequests(
                client: try OperatorClient(try CommandLife.settings(arguments)), method: "POST", path: "/refresh",
                isJSON: arguments.has(.json), words: words
            ).run(arguments.operands)
        }
    }

    static func words(for answer: [ExactText: JSONValue]) throws(CommandFailure) -> String {
        switch answer["result"] {
        case .string("unchanged")?: return "unchanged"
        case .string("changed")?: return "changed; the new version is in use"
        case .string("gone")?: return "gone from its origin, and from the caches"
        default: throw CommandFailure(failure: answer) ?? CommandFailure(code: "failed", "the origin could not tell")
        }
    }
}
