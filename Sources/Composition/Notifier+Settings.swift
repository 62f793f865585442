import Coordination
import Downloading
import HTTPTypes
import Memory
import Program
import Settings
import Telemetry
import Webhooks

extension Notifier {
    private static let timeLimit = Duration.seconds(10)

    init(_ engine: Engine, settings: @escaping @Sendable () -> Settings, logger: Logger, timekeeper: any Timekeeper) {
        let authorities = engine.settings.downloads.certificateAuthorities
        // Do not capture the engine, because its registry refers to the notifier.
        let loader = engine.loader
        let downloader = engine.downloader
        self.init(
            hooks: engine.settings.notifying.hooks, registry: engine.registry, logger: logger, timekeeper: timekeeper,
            sendToHook: { call in
                let result = await HTTPClient.status(
                    of: Self.request(call), to: call.url, timeLimit: Self.timeLimit, authorities: authorities,
                    thread: "hook")
                switch result {
                case .success(let status): return .status(status)
                case .failure(let failure): return .none(failure.description)
                }
            },
            sendToCallback: { call in
                guard let url = try? SourceURL(parsing: call.url) else { return .rejected("not a URL") }
                // A job may have been stored under other settings.
                let rules = downloader.rules
                if let violation = settings().notifying.violation(toCallback: url, by: rules) {
                    return .rejected(violation)
                }
                do {
                    try await loader.call(Self.request(call), at: url, by: rules)
                    return .status(200)
                } catch DownloadError.status(let status) {
                    return .status(status)
                } catch DownloadError.sourceNotAllowed(let violation) {
                    return .rejected(violation)
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
        // Servers expect an explicit empty body in such requests; libcurl would omit it.
        if call.body.isEmpty, ["POST", "PUT", "PATCH"].contains(call.method.rawValue) {
            request.headerFields.append(.contentLength, "0")
        }
        return request
    }
}

extension NotificationSettings {
    func violation(toCallback url: SourceURL, by rules: DownloadRules) -> String? {
        guard callbackHosts.allow(url) else { return "callbackHosts: none of them is \(url.host)" }
        return rules.configuration.violation(toCalling: url)
    }
}
