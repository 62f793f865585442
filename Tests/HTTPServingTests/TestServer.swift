import Coordination
import HTTPServing
import HTTPTypes
import Memory
import Telemetry
import TestSupport

/// A server on a free port with scripted responses.
struct TestServer: RequestResponder {
    private let answer: @Sendable (HTTPRequest) -> PendingResponse<HTTPResponse>
    private let headers: EventCounter
    private let gate: ThreadGate?
    private let reservation: RecordingReservation?

    private init(
        answer: @escaping @Sendable (HTTPRequest) -> PendingResponse<HTTPResponse>, headers: EventCounter,
        gate: ThreadGate?, reservation: RecordingReservation?
    ) {
        self.reservation = reservation
        self.answer = answer
        self.headers = headers
        self.gate = gate
    }

    func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> { answer(request) }

    /// `POST /upload` accepts 200,000 bytes.
    func bodyPolicy(for request: HTTPRequest) -> BodyPolicy? {
        headers.increment()
        gate?.pass()
        return request.target == "/upload"
            ? BodyPolicy(maximumLength: 200_000) { [reservation] _, _ in .accepted(reservation) } : nil
    }

    func response(to rejection: HTTPRejection) -> HTTPResponse {
        let status: HTTPResponse.Status =
            switch rejection {
            case .badRequest: .badRequest
            case .headerTimeout, .bodyTimeout: .requestTimeout
            case .targetTooLong: .uriTooLong
            case .fieldsTooLarge: .requestHeaderFieldsTooLarge
            case .bodyTooLarge: .contentTooLarge
            case .versionNotSupported: .httpVersionNotSupported
            }
        return HTTPResponse(
            status: status, headerFields: [.contentType: "application/problem+json"], body: .text(rejection.rawValue))
    }

    /// Starts a server that responds with `answer`.
    static func start(
        answering answer: @escaping @Sendable (HTTPRequest) -> PendingResponse<HTTPResponse>
    ) throws -> HTTPServer {
        try start(configured: { _ in }, answering: answer)
    }

    /// Starts a server that responds with `answer`, or echoes the request, and counts headers.
    ///
    /// The event thread waits at `gate` after each header.
    static func start(
        configured configure: (inout HTTPServerConfiguration) -> Void = { _ in },
        counting headers: EventCounter = EventCounter(),
        meeting gate: ThreadGate? = nil,
        reserving reservation: RecordingReservation? = nil,
        timedBy timekeeper: any Timekeeper = SystemTimekeeper(),
        answering answer: (@Sendable (HTTPRequest) -> PendingResponse<HTTPResponse>)? = nil
    ) throws -> HTTPServer {
        var configuration = HTTPServerConfiguration()
        configuration.bindAddress = "127.0.0.1"
        configuration.port = 0
        configuration.threads = 2
        configure(&configuration)
        return try HTTPServer(
            configuration,
            responder: TestServer(
                answer: answer ?? { .ready(.echo($0)) }, headers: headers, gate: gate, reservation: reservation),
            logger: .silent, timekeeper: timekeeper)
    }
}

/// Records why the server interrupts a body.
final class RecordingReservation: BodyReservation {
    let interruptions = Locked<[HTTPRejection]>([])

    func rejection(ofLength length: Int) -> HTTPResponse? { nil }

    func interrupt(by rejection: HTTPRejection) { interruptions.withLock { $0.append(rejection) } }

    func respond(to request: HTTPRequest) -> PendingResponse<HTTPResponse> { .ready(.echo(request)) }
}

extension HTTPResponse {
    /// A 200 response whose body has the received method and target, and a line for each field.
    static func echo(_ request: HTTPRequest) -> HTTPResponse {
        let lines = request.headerFields.map { "\($0.name): \($0.value)" }
        let first = "\(request.method.rawValue) \(request.target)"
        return HTTPResponse(status: .ok, body: .text(([first] + lines).joined(separator: "\n")))
    }

    /// A 200 response with a short text.
    static func text(_ text: String) -> HTTPResponse {
        HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"], body: .text(text))
    }
}

extension RawHTTPClient {
    /// Sends a GET request for `target`.
    func get(_ target: String) {
        send("GET \(target) HTTP/1.1\r\nHost: test\r\n\r\n")
    }
}

extension SharedBytes {
    /// A block of nines that counts its release.
    static func nines(count: Int, released: EventCounter) -> SharedBytes {
        let base = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 16)
        unsafe base.initializeMemory(as: UInt8.self, repeating: 9, count: count)
        return unsafe SharedBytes(adopting: base, count: count, footprint: count) { base, _ in
            unsafe base.deallocate()
            released.increment()
        }
    }
}
