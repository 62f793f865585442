import Coordination
import Downloading
import HTTPTypes
import Memory
import Program
import Settings
import Telemetry
import ThumbnailPipeline

extension Notifier {
    /// How long one try may take that goes to an operator's hook.
    private static let timeLimit = Duration.seconds(10)

    /// A notifier that sends what the settings say.
    ///
    /// - Parameters:
    ///   - settings: The hooks, and the hosts of callbacks.
    ///   - web: Sends callbacks, and judges their addresses.
    ///   - registry: Gets the metrics.
    ///   - logger: Takes a line for each call that did not arrive.
    ///   - time: The clock of the pauses.
    init(_ settings: Settings, web: CurlLoader, registry: MetricsRegistry, logger: Logger, time: any Timekeeper) {
        let authorities = settings.downloads.certificateAuthorities
        self.init(
            hooks: settings.notifying.hooks, registry: registry, logger: logger, timekeeper: time,
            toHooks: { call in
                let result = await HTTPClient.status(
                    of: Self.request(call), to: call.url, timeLimit: Self.timeLimit, authorities: authorities,
                    thread: "hook")
                switch result {
                case .success(let status): return .status(status)
                case .failure(let failure): return .none(failure.description)
                }
            },
            toCallbacks: { call in
                guard let url = try? SourceURL(parsing: call.url) else { return .refused("no URL") }
                // A job may have been written down under other settings.
                if let objection = settings.objection(toCallback: url) { return .refused(objection) }
                do {
                    try await web.call(Self.request(call), at: url)
                    return .status(200)
                } catch DownloadError.status(let status) {
                    return .status(status)
                } catch DownloadError.sourceNotAllowed(let objection) {
                    return .refused(objection)
                } catch {
                    return .none("\(error)")
                }
            })
    }

    private static func request(_ call: OutgoingCall) -> HTTPRequest {
        var request = HTTPRequest(
            method: call.method, target: "", headerFields: call.fields, body: SharedBytes(call.body))
        if !request.headerFields.contains(.userAgent) {
            request.headerFields.append(.userAgent, "Alula/" + Program.version)
        }
        // Servers want to know that such a request has no body; libcurl would say nothing.
        if call.body.isEmpty, ["POST", "PUT", "PATCH"].contains(call.method.rawValue) {
            request.headerFields.append(.contentLength, "0")
        }
        return request
    }
}

extension Settings {
    /// The setting that forbids the callback of a job, as far as its URL tells; nil if it is allowed.
    func objection(toCallback url: SourceURL) -> String? {
        guard notifying.callbackHosts.allow(url) else { return "callbackHosts: none of them is \(url.host)" }
        return downloads.objection(toCalling: url)
    }
}
