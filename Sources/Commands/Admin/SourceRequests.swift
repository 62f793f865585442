import Dialects
import JSON
import Program
import Text
import ThumbnailAPI

/// Consecutive requests, each about a source or a tag.
struct SourceRequests {
    let client: AdminClient
    let method: String
    let path: String
    var parameter = "url"
    let isJSON: Bool
    let words: (_ answer: [ExactText: JSONValue]) throws(CommandFailure) -> String

    /// Nil stands for a request without a source or tag; prints a line for each.
    func run(_ sources: [String?]) throws -> CInt {
        var hasNoFailures = true
        for source in sources {
            try Task.checkCancellation()
            let query = source.map { "?" + NativeDialect.query(options: [(parameter, $0)]) } ?? ""
            do throws(CommandFailure) {
                let answer = try client.blockingJSON(method, path + query)
                if isJSON { Program.print(answer.text) }
                let line = try words(answer.json?.members ?? [:])
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
