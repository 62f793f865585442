import JSON
import Text

enum RefreshCommand {
    static let description = CommandDescription(
        name: "refresh", summary: "revalidate sources in the running service",
        operands: "URL…",
        text: """
            Revalidates the sources at these URLs in the running service, even if its copies are fresh. Results of older versions
            are not served again. URL may be NAME:PATH of a named origin. Uses the admin listener (adminBind, adminPort).

            The exit status is 0, 1 if an origin failed, and 2 for invalid use.
            """,
        options: [CommandOption(name: "json", help: "print the service's responses")],
        examples: ["alula refresh https://example.com/cat.jpg", "alula refresh photos:2026/a.jpg"])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            guard !arguments.operands.isEmpty else { throw WrongUse("a URL is needed") }
            return try SourceRequests(
                client: try AdminClient(try CommandLife.settings(arguments)), method: "POST", path: "/refresh",
                isJSON: arguments.has(.json), words: words
            ).run(arguments.operands)
        }
    }

    static func words(for answer: [ExactText: JSONValue]) throws(CommandFailure) -> String {
        switch answer["result"] {
        case .string("unchanged")?: return "unchanged"
        case .string("changed")?: return "changed; the new version is in use"
        case .string("gone")?: return "gone from its origin, and from the caches"
        default: throw CommandFailure(failure: answer) ?? CommandFailure(code: "failed", "the origin failed")
        }
    }
}
