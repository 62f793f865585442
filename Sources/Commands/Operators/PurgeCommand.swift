import JSON
import Text

/// `alula purge`: removes sources, and all made from them, from the caches of a running service.
enum PurgeCommand {
    private static let all = CommandOption(name: "all", help: "empty the caches")

    static let description = CommandDescription(
        name: "purge", summary: "remove sources from the caches of the running service",
        operands: "URL…|--all",
        text: """
            Has the running service forget the sources at these URLs, and all that was made from them. URL may be NAME:PATH of a
            named origin. It speaks to the operators' listener (adminBind, adminPort).

            The exit status is 0, 1 if a removal failed, and 2 for wrong use.
            """,
        options: [all, CommandOption(name: "json", help: "print the service's own answers")],
        examples: ["alula purge https://example.com/cat.jpg", "alula purge photos:2026/a.jpg", "alula purge --all"])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            let urls = arguments.operands
            guard urls.isEmpty == arguments.has(all) else {
                throw WrongUse(urls.isEmpty ? "a URL or --all is needed" : "URLs and --all do not go together")
            }
            return try SourceRequests(
                client: try OperatorClient(try CommandLife.settings(arguments)), method: "DELETE", path: "/cache",
                isJSON: arguments.has(.json), words: { (members) throws(CommandFailure) in words(for: members) }
            ).run(urls.isEmpty ? [nil] : urls)
        }
    }

    private static func words(for answer: [ExactText: JSONValue]) -> String {
        var (entries, bytes) = (0, 0)
        if case .int(let number)? = answer["entries"] { entries = number }
        if case .int(let number)? = answer["bytes"] { bytes = number }
        guard entries > 0 else { return "nothing removed, because nothing was cached" }
        return "\(entries) entr\(entries == 1 ? "y" : "ies") removed, \(StatusText.size(bytes))"
    }
}
