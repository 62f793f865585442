import Dialects
import JSON
import Program
import Text
import ThumbnailAPI

struct SourceRequests {
    let client: AdminClient
    let method: String
    let path: String
    var parameter = "url"
    let isJSON: Bool
    let words: (_ response: [ExactText: JSONValue]) throws(CommandFailure) -> String

    /// Sends a request per source and prints a line for each; nil stands for a request without source or tag.
    func run(_ sources: [String?]) throws -> CInt {
        var hasNoFailures = true
        for source in sources {
            try Task.checkCancellation()
            let query = source.map { "?" + NativeDialect.query(options: [(parameter, $0)]) } ?? ""
            do throws(CommandFailure) {
                let response = try client.blockingJSON(method, to: path + query)
                if isJSON { Program.print(response.text) }
                let line = try words(response.json?.members ?? [:])
                if !isJSON { Program.print(Program.line(source.map { "\($0): \(line)" } ?? line)) }
            } catch {
                hasNoFailures = false
                Program.printError(source.map { "\($0): \(error.reason)" } ?? error.reason)
                if error.code == "no_service" { return 1 }
            }
        }
        return hasNoFailures && Program.canPrint ? 0 : 1
    }
}

enum RefreshCommand {
    static let description = CommandDescription(
        name: "refresh", summary: "revalidate sources in the running service",
        operands: "URL…",
        text: """
            Revalidates the sources at these URLs in the running service, even if its copies are fresh. Results of older versions
            are no longer served. URL may be NAME:PATH of a named origin. Uses the admin listener (adminBind, adminPort).

            The exit status is 0, 1 if an origin failed, and 2 for invalid use.
            """,
        options: [CommandOption(name: "json", help: "print the service's responses")],
        examples: ["alula refresh https://example.com/cat.jpg", "alula refresh photos:2026/a.jpg"])

    static func run(_ arguments: [String]) -> Never {
        CommandRunner.run(description, with: arguments) { arguments in
            guard !arguments.operands.isEmpty else { throw UsageError("missing URL") }
            return try SourceRequests(
                client: try AdminClient(try CommandRunner.settings(arguments, needsSecrets: false)), method: "POST",
                path: "/refresh", isJSON: arguments.has(.json), words: words
            ).run(arguments.operands)
        }
    }

    static func words(for response: [ExactText: JSONValue]) throws(CommandFailure) -> String {
        switch response["result"] {
        case .string("unchanged")?: return "unchanged"
        case .string("changed")?: return "changed; the new version is in use"
        case .string("gone")?: return "gone from its origin, and from the caches"
        default: throw CommandFailure(failure: response) ?? CommandFailure(code: "failed", reason: "the origin failed")
        }
    }
}
