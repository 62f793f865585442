import Coordination
import Dialects
import JSON
import Program
import Text
import ThumbnailAPI

enum PrefetchCommand {
    private static let wait = CommandOption(name: "wait", help: "wait for all thumbnails, and fail if one failed")

    static let description = CommandDescription(
        name: "prefetch", summary: "render thumbnails in the running service before they are requested",
        operands: "URL… [OPTIONS]",
        text: """
            Starts a job in the running service: one thumbnail of each URL, which may be NAME:PATH of a named origin. Uses the
            admin listener (adminBind, adminPort); the settings of the service apply.

            The exit status is 0, 1 if the service rejects the job or a thumbnail failed, and 2 for invalid use.
            """,
        options: [wait, CommandOption(name: "json", help: "print the service's responses")],
        takesParameters: true,
        examples: ["alula prefetch https://example.com/cat.jpg --w 300 --format webp --wait"])

    static func run(_ arguments: [String]) -> Never {
        CommandLife.run(description, arguments) { arguments in
            guard !arguments.operands.isEmpty else { throw WrongUse("a URL is needed") }
            let client = try AdminClient(try CommandLife.settings(arguments))
            let rendition = JSONValue.string(NativeDialect.query(options: arguments.parameters))
            let sources = arguments.operands.map { url in
                JSONValue.object([("url", .string(url)), ("renditions", .array([rendition]))])
            }
            let answer: AdminClient.Answer
            do throws(CommandFailure) {
                answer = try client.blockingJSON("POST", "/prefetch", json: .object([("sources", .array(sources))]))
            } catch {
                // The service names the invalid parameter: `w: must be …`.
                if let option = arguments.parameters.first(where: { error.reason.hasPrefix($0.name + ":") }) {
                    throw WrongUse("--\(option.name)\(error.reason.dropFirst(option.name.count))")
                }
                throw error
            }
            guard case .string(let id)? = answer.json?.members?["id"] else {
                throw CommandFailure(code: "not_json", "the service at \(client.endpoint) did not return a job")
            }
            let isJSON = arguments.has(.json)
            guard arguments.has(wait) else {
                let count = arguments.operands.count
                Program.print(isJSON ? answer.text : "job \(id): \(count) thumbnail\(count == 1 ? "" : "s")")
                return Program.canPrint ? 0 : 1
            }
            return try await end(of: id, client, isJSON: isJSON) ? 0 : 1
        }
    }

    private static func end(of id: String, _ client: AdminClient, isJSON: Bool) async throws -> Bool {
        let time = SystemTimekeeper()
        while true {
            let answer = try client.blockingJSON("GET", "/prefetch/" + id)
            guard let members = answer.json?.members, case .int(let left)? = members["left"],
                case .int(let failed)? = members["failed"], case .int(let done)? = members["done"]
            else { throw CommandFailure(code: "not_json", "the service at \(client.endpoint) did not return its job") }
            if left == 0 {
                Program.print(isJSON ? answer.text : "job \(id): \(done) rendered, \(failed) failed")
                if !isJSON { for line in PrefetchText.failures(in: members) { Program.printError(line) } }
                return failed == 0 && Program.canPrint
            }
            try await time.sleep(until: time.now + .milliseconds(200))
        }
    }
}

enum PrefetchText {
    /// One for each failure with details, and one for failures that the service only counts.
    static func failures(in status: [ExactText: JSONValue]) -> [String] {
        guard case .int(let failed)? = status["failed"], failed > 0 else { return [] }
        var lines: [String] = []
        if case .array(let failures)? = status["failures"] {
            for members in failures.compactMap(\.members) {
                guard let failure = CommandFailure(failure: members), case .string(let url)? = members["url"] else {
                    continue
                }
                lines.append("\(url): \(failure.reason)")
            }
        }
        if failed > lines.count { lines.append("\(failed - lines.count) more failed") }
        return lines
    }
}
