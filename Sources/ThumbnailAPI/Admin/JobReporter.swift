import Crypto
import Downloading
import HTTPTypes
import JSON
import Memory
package import Prefetching
package import Telemetry
import ThumbnailPipeline
package import Webhooks

package struct JobReporter: Sendable {
    private let events: EventLog
    private let notifier: Notifier
    private let keys: @Sendable () -> [[UInt8]]

    /// - Parameter keys: Signing keys; reports are signed with the first one.
    package init(_ events: EventLog, notifier: Notifier, keys: @escaping @Sendable () -> [[UInt8]]) {
        self.events = events
        self.notifier = notifier
        self.keys = keys
    }

    /// - Parameter completion: Called when the callback has succeeded or failed for good; at once if the job has none.
    package func report(_ report: PrefetchReport, completion: @escaping OutgoingCaller.Completion) {
        let status = report.status
        events.record(
            .prefetch(
                id: report.id, state: status.state.rawValue, done: status.done, failed: status.failed,
                total: status.total))
        guard let call = call(for: report) else { return completion(.dropped) }
        notifier.callBack(call, completion: completion)
    }

    func call(for report: PrefetchReport) -> OutgoingCall? {
        guard let callback = report.callback, let url = try? SourceURL(parsing: callback) else { return nil }
        let body = Array(JSONValue.prefetchStatus(report.status, of: report.id).text.utf8)
        var fields: HTTPFields = [.contentType: "application/json", .accept: "*/*"]
        if let key = keys().first {
            let request = HTTPRequest(method: .post, target: url.target, headerFields: fields)
            let digest = SharedBytes(body).withBytes { SHA256.hash($0) }
            for field in BodySignature.fields(of: request, digest: digest, key: key, version: .one) {
                fields.append(field)
            }
        }
        return OutgoingCall(url: url.canonical, fields: fields, body: body)
    }
}
