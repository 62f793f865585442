import Coordination
import HTTPServing
import HTTPTypes
import Telemetry
import TestSupport

@testable import Composition
@testable import Settings

/// The whole service on free ports of 127.0.0.1, with an origin.
struct RunningService: Sendable {
    enum Listener {
        case `public`, admin
    }

    let origin: FakeOrigin
    let service: Service
    let settings: Settings

    /// Starts the service and an origin; private sources in 127.0.0.0/8 are allowed.
    ///
    /// - Parameter file: The text of the settings file, which a reload reads again; `ORIGIN` is replaced by the
    ///   origin's address.
    init(
        _ arguments: [String] = [], file: Locked<String> = Locked("{}"), time: any Timekeeper = SystemTimekeeper(),
        logger: Logger = .silent, configure: (inout Settings) -> Void = { _ in }
    ) throws {
        origin = try FakeOrigin()
        let base = origin.url("")
        let read = { @Sendable () throws in
            try SettingsLoader.load(
                arguments: [
                    "--config", "alula.json5", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0",
                    "--allowed-networks", "127.0.0.0/8",
                    // Worker processes have separate tests; here hundreds of them would be started.
                    "--decode-in-process", "on",
                ] + arguments,
                environment: [:], readFile: { _ in file.withLock { $0.replacing("ORIGIN", with: base) } })
        }
        var settings = try read()
        configure(&settings)
        self.settings = settings
        service = try Service(settings, logger: logger, reloads: SettingsReloads(read), timekeeper: time)
    }

    /// The request target of a thumbnail of a path of the origin.
    func target(_ path: String, _ query: String = "w=32") -> String {
        let url = origin.url(path).replacing("%", with: "%25").replacing("&", with: "%26").replacing("#", with: "%23")
        return "/thumbnail?url=\(url)&\(query)"
    }

    /// Sends a request on a new connection and returns the response.
    func send(
        _ method: String = "GET", _ target: String, _ fields: String = "", to listener: Listener = .public
    ) async throws -> RawHTTPClient.Response {
        let client = try connect(to: listener)
        defer { client.close() }
        client.send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
        return try await client.response(isHead: method == "HEAD")
    }

    /// Requests the thumbnail of a path of the origin.
    func thumbnail(_ path: String, _ query: String = "w=32", fields: String = "") async throws -> RawHTTPClient.Response
    {
        try await send("GET", target(path, query), fields)
    }

    func connect(to listener: Listener = .public) throws -> RawHTTPClient {
        try RawHTTPClient(port: listener == .admin ? service.adminServer.port : service.publicServer.port)
    }

    /// The sum of a metric over its labels.
    func metric(_ name: String) async throws -> Double {
        try await send("GET", "/metrics", to: .admin).text.split(separator: "\n").filter {
            $0.hasPrefix(name + " ") || $0.hasPrefix(name + "{")
        }.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
    }

    /// Stops the service and the origin.
    func stop() async {
        await service.shutDown(settings)
        origin.stop()
    }
}

/// Runs `body` with a service that is stopped afterward.
func withService<Value>(
    _ arguments: [String] = [], file: String = "{}", time: any Timekeeper = SystemTimekeeper(),
    logger: Logger = .silent, configure: (inout Settings) -> Void = { _ in },
    _ body: (RunningService) async throws -> Value
) async throws -> Value {
    let running = try RunningService(arguments, file: Locked(file), time: time, logger: logger, configure: configure)
    do {
        let value = try await body(running)
        await running.stop()
        return value
    } catch {
        await running.stop()
        throw error
    }
}
