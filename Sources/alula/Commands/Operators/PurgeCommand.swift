import JSON
import Text
import ThumbnailAPI

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
        examples: ["alula purge https://example.com/cat.jpg", "alula purge --all"])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            let urls = arguments.operands
            guard urls.isEmpty == arguments.has(all) else {
                throw WrongUse(urls.isEmpty ? "a URL or --all is needed" : "URLs and --all do not go together")
            }
            let client = try OperatorClient(try CommandLife.settings(arguments))
            var isWell = true
            for url in urls.isEmpty ? [nil] : urls.map(Optional.some) {
                try Task.checkCancellation()
                let query = url.map { "?" + NativeDialect.query(options: [("url", $0)]) } ?? ""
                do throws(CommandFailure) {
                    let answer = try client.blockingJSON("DELETE", "/cache" + query)
                    Program.say(arguments.has(.json) ? answer.text : line(url, answer))
                } catch {
                    isWell = false
                    Program.complain(url.map { "\($0): \(error.reason)" } ?? error.reason)
                    if error.code == "no_service" { return 1 }
                }
            }
            return isWell && Program.canSay ? 0 : 1
        }
    }

    private static func line(_ url: String?, _ answer: OperatorClient.Answer) -> String {
        var counts = (entries: 0, bytes: 0)
        if let members = answer.json?.members {
            if case .int(let number)? = members["entries"] { counts.entries = number }
            if case .int(let number)? = members["bytes"] { counts.bytes = number }
        }
        let removed = "\(counts.entries) entries removed, \(StatusText.size(counts.bytes))"
        return CommandFailure.line(url.map { "\($0): \(removed)" } ?? removed)
    }
}
