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
    let summary: (_ response: [ExactText: JSONValue]) throws(CommandFailure) -> String

    /// Sends a request per source and prints a line for each; nil stands for a request without source or tag.
    func run(_ sources: [String?]) throws -> CInt {
        var hasNoFailures = true
        for source in sources {
            try Task.checkCancellation()
            let query = source.map { "?" + NativeDialect.query(options: [(parameter, $0)]) } ?? ""
            do throws(CommandFailure) {
                let response = try client.blockingJSON(method, to: path + query)
                if isJSON { Program.print(response.text) }
                let line = try summary(response.json?.members ?? [:])
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
