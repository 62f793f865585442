import Coordination
import Downloading
import HTTPTypes
import Memory
import Program
import Settings
import Telemetry

/// Reaches collectors of OpenTelemetry over HTTP.
enum Collector {
    /// Posts documents to `url`, each on a thread of its own, because the collector may take its time.
    static func post(to url: String, authorities: String?) -> OTLPSender.Post {
        { document, timeLimit in
            let fields: HTTPFields = [.contentType: "application/json", .userAgent: "Alula/" + Program.version]
            let request = HTTPRequest(method: .post, target: "", headerFields: fields, body: SharedBytes(document))
            return await withCheckedContinuation { continuation in
                let thread = try? WorkThread(named: "collector") {
                    continuation.resume(returning: blockingReply(to: request, at: url, timeLimit, authorities))
                }
                guard let thread else { return continuation.resume(returning: .none) }
                thread.detach()
            }
        }
    }

    private static func blockingReply(
        to request: HTTPRequest, at url: String, _ timeLimit: Duration, _ authorities: String?
    ) -> OTLPSender.Reply {
        do throws(HTTPClient.Failure) {
            let answer = try HTTPClient.blockingSend(request, to: url, timeLimit: timeLimit, authorities: authorities)
            return .status(answer.status, retryAfter: answer.retryAfter)
        } catch {
            return .none
        }
    }
}

extension Settings {
    /// The service as collectors know it.
    var resource: OTLPResource {
        OTLPResource(
            [
                ("service.name", "alula"), ("service.version", .string(Program.version)),
                ("service.instance.id", .string(sharedCache.instance)),
            ], version: Program.version)
    }
}
