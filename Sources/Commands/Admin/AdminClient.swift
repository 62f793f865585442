import Downloading
import HTTPServing
import HTTPTypes
import JSON
import Memory
import Settings
import Text
import ThumbnailAPI

struct AdminClient: Sendable {
    struct Response: Sendable {
        let status: Int
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: JSONValue? { try? JSONReader.value(in: body) }

        /// Returns the response if it is a success; otherwise throws its failure.
        func checked() throws(CommandFailure) -> Response {
            if (200..<300).contains(status) { return self }
            throw json?.members.flatMap { CommandFailure(failure: $0) }
                ?? CommandFailure(code: "refused", reason: "the service responded with status \(status)")
        }
    }

    private let address: String
    private let port: UInt16
    private let socketPath: String?
    private let token: Secret?

    private let names: (bind: String, port: String)
    private let timeLimit: Duration

    init(_ settings: Settings) throws(CommandFailure) {
        try self.init(
            settings.adminListener, names: ("adminBind", "adminPort"), flag: "--admin-port",
            token: settings.api.adminToken, timeLimit: .seconds(60))
    }

    init(for arguments: CommandArguments) throws {
        try self.init(try CommandRunner.settings(arguments, needsSecrets: false))
    }

    /// A client of the public listener for health checks, with a short timeout.
    init(publicOf settings: Settings) throws(CommandFailure) {
        try self.init(settings.publicListener, names: ("bind", "port"), flag: "--port", timeLimit: .seconds(2))
    }

    private init(
        _ listener: HTTPServerConfiguration, names: (bind: String, port: String), flag: String, token: Secret? = nil,
        timeLimit: Duration
    ) throws(CommandFailure) {
        self.token = token
        self.names = names
        self.timeLimit = timeLimit
        port = listener.port
        socketPath = listener.socketPath
        guard port != 0 || socketPath != nil else {
            throw CommandFailure(code: "no_port", reason: "\(names.port) is 0, so the port is unknown; use \(flag)")
        }
        switch listener.bindAddress {
        case "0.0.0.0": address = "127.0.0.1"
        case "::": address = "::1"
        case _ where socketPath != nil: address = "localhost"
        case let other: address = other
        }
    }

    var endpoint: String { socketPath.map { HTTPServerConfiguration.socketPrefix + $0 } ?? authority }

    private var authority: String {
        address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    func blockingSend(_ method: String, to target: String, json: JSONValue? = nil) throws(CommandFailure) -> Response {
        var request = HTTPRequest(method: HTTPRequest.Method(rawValue: method), target: target)
        if let token { request.headerFields.append(.authorization, "Bearer \(token.text)") }
        if let json {
            request.headerFields.append(.contentType, "application/json")
            request.body = SharedBytes(json.text.utf8)
        }
        do throws(HTTPClient.Failure) {
            let response = try HTTPClient.blockingSend(
                request, to: "http://\(authority)\(target)", at: socketPath, timeLimit: timeLimit)
            return Response(status: response.status, body: response.body)
        } catch {
            guard error.isTimeOut else {
                throw CommandFailure(
                    code: "no_service", reason: "no service responds at \(endpoint) (\(names.bind), \(names.port))")
            }
            throw CommandFailure(
                code: "no_service",
                reason: "the service at \(endpoint) was silent for \(timeLimit.components.seconds) s")
        }
    }

    func blockingJSON(_ method: String, to target: String, json: JSONValue? = nil) throws(CommandFailure) -> Response {
        try blockingSend(method, to: target, json: json).checked()
    }
}

extension CommandFailure {
    /// Returns nil if the member `code` or `detail` is missing.
    init?(failure members: [ExactText: JSONValue]) {
        guard let detail = members["detail"]?.stringValue else { return nil }
        var code = "refused"
        if let text = members["code"]?.stringValue { code = text }
        var reason = Self.lowered(detail)
        if reason.hasSuffix(".") { reason.removeLast() }
        self.init(code: code, reason: reason)
    }
}
