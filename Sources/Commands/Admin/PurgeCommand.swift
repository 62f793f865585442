import JSON
import Text
import ThumbnailAPI

enum PurgeCommand {
    private static let all = CommandOption(name: "all", help: "empty the caches")
    private static let tag = CommandOption(name: "tag", form: "TAG", help: "remove the sources with this tag")

    static let description = CommandDescription(
        name: "purge", summary: "remove sources from the caches of the running service",
        operands: "URL…|--tag TAG|--all",
        text: """
            Removes the sources at these URLs and their results from the caches of the running service. URL may be NAME:PATH of a
            named origin. Uses the admin listener (adminBind, adminPort).

            The exit status is 0, 1 if a removal failed, and 2 for invalid use.
            """, options: [tag, all, .responses],
        examples: [
            "alula purge https://example.com/cat.jpg", "alula purge photos:2026/a.jpg", "alula purge --tag product-7",
            "alula purge --all",
        ])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            let urls = arguments.operands
            let tag = arguments.value(of: Self.tag)
            let ways = [!urls.isEmpty, tag != nil, arguments.has(all)].count { $0 }
            guard ways == 1 else {
                throw UsageError(ways == 0 ? "missing URL, --tag or --all" : "URLs, --tag and --all cannot be combined")
            }
            return try SourceRequests(
                client: try AdminClient(for: arguments), method: "DELETE", path: AdminPath.cache,
                parameter: tag == nil ? "url" : "tag", isJSON: arguments.has(.json), summary: summary
            ).run(urls.isEmpty ? [tag] : urls)
        }
    }

    private static func summary(of response: [ExactText: JSONValue]) -> String {
        let entries = response["entries"]?.intValue ?? 0
        let bytes = response["bytes"]?.intValue ?? 0
        var rest = ""
        if case .bool(false)? = response["complete"] { rest = "; more may be left under the tag" }
        guard entries > 0 else {
            return rest.isEmpty ? "nothing removed, because nothing was cached" : "nothing removed\(rest)"
        }
        return "\(entries) entr\(entries == 1 ? "y" : "ies") removed, \(StatusText.size(bytes))" + rest
    }
}
