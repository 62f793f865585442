import JSON
import Text
import ThumbnailAPI

enum RefreshCommand {
    static let description = CommandDescription(
        name: "refresh", summary: "revalidate sources in the running service", operands: "URL…",
        text: """
            Revalidates the sources at these URLs in the running service, even if its copies are fresh. Results of older versions
            are no longer served. URL may be NAME:PATH of a named origin. Uses the admin listener (adminBind, adminPort).

            The exit status is 0, 1 if an origin failed, and 2 for invalid use.
            """, options: [.responses],
        examples: ["alula refresh https://example.com/cat.jpg", "alula refresh photos:2026/a.jpg"])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            guard !arguments.operands.isEmpty else { throw UsageError("missing URL") }
            return try SourceRequests(
                client: try AdminClient(for: arguments), method: "POST",
                path: AdminPath.refresh, isJSON: arguments.has(.json), summary: summary
            ).run(arguments.operands)
        }
    }

    static func summary(of response: [ExactText: JSONValue]) throws(CommandFailure) -> String {
        switch response["result"] {
        case .string("unchanged")?: return "unchanged"
        case .string("changed")?: return "changed; the new version is in use"
        case .string("gone")?: return "gone from its origin, and from the caches"
        default: throw CommandFailure(failure: response) ?? CommandFailure(code: "failed", reason: "the origin failed")
        }
    }
}
