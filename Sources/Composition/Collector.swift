import Coordination
import Downloading
import HTTPTypes
import Memory
import Program
import Settings
import Telemetry

enum Collector {
    /// Posts on a separate thread because it may block; nil without an endpoint.
    static func post(to collector: ExportSettings.Collector, authorities: String?) -> OTLPSender.Post? {
        guard let url = collector.endpoint?.canonical else { return nil }
        var fields: HTTPFields = [.contentType: "application/json", .userAgent: "Alula/" + Program.version]
        for field in collector.fields { fields.append(field.name, field.value) }
        return { [fields] document, timeLimit in
            let request = HTTPRequest(method: .post, target: "", headerFields: fields, body: SharedBytes(document))
            let reply = await WorkThread.value(named: "collector") {
                blockingReply(to: request, at: url, timeLimit, authorities)
            }
            return reply ?? .none
        }
    }

    private static func blockingReply(
        to request: HTTPRequest, at url: String, _ timeLimit: Duration, _ authorities: String?
    ) -> OTLPSender.Reply {
        do throws(HTTPClient.Failure) {
            let answer = try HTTPClient.blockingSend(
                request, to: url, timeLimit: timeLimit, authorities: authorities, maximumBodyBytes: nil)
            return .status(answer.status, retryAfter: answer.retryAfter)
        } catch {
            return .none
        }
    }
}

extension Settings {
    var resource: OTLPResource {
        OTLPResource(resourceAttributes.map { ($0.name, .string($0.value)) }, version: Program.version)
    }
}
