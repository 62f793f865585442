import Coordination
import Downloading
import Glibc
import Memory
import TestSupport
import Testing

@testable import Composition
@testable import Settings

/// Responses to faults of origins, for one client and for fifty at once.
@Suite(.timeLimit(.minutes(3)))
struct FaultTableTests {
    /// A fault and the response to it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let answer: FakeResponse
        let status: Int
        let code: String
        /// Settings that make the fault occur soon.
        var arguments: [String] = []
        /// Whether a reset of a reused connection causes a second request.
        var mayRepeat = false
    }

    private static let image = FakeResponse.image(ImageFixture.png.array, type: "image/png")

    private static func head(_ lines: String, body: String = "a") -> FakeResponse {
        .raw("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\(lines)\r\n\r\n\(body)")
    }

    private static func fault(
        _ name: String, _ answer: FakeResponse, _ status: Int, _ code: String, _ arguments: [String] = [],
        mayRepeat: Bool = false
    ) -> Fault {
        Fault(
            testDescription: name, answer: answer, status: status, code: code, arguments: arguments,
            mayRepeat: mayRepeat)
    }

    static let unreachable: [Fault] = [
        fault("reset before the head", .reset, 502, "origin_unreachable", mayRepeat: true),
        fault("closed before the head", .closing, 502, "origin_unreachable", mayRepeat: true),
        fault("reset in the body", image.reset(afterBytes: 50), 502, "origin_protocol_error"),
        fault("cut short", image.cut(afterBytes: 50), 502, "origin_protocol_error"),
        fault(
            "cut short, to the connection's end", image.framed(by: .close).cut(afterBytes: 70), 422, "cannot_decode"),
    ]

    static let late: [Fault] = [
        fault("silence", .silence, 504, "origin_timeout", ["--first-byte-timeout", "2s"]),
        fault("drip", .image(bytes(60)).dripping(1, every: .milliseconds(100)), 504, "origin_timeout"),
        fault(
            "past the deadline", .image(bytes(4 << 20)).dripping(32 << 10, every: .milliseconds(100)), 504,
            "origin_timeout", ["--download-timeout", "2s"]),
    ]

    static let malformed: [Fault] = [
        fault("HTTP/0.9", .raw("<html>\n"), 502, "origin_protocol_error"),
        fault("status 000", .raw("HTTP/1.1 000 Zero\r\nContent-Length: 1\r\n\r\na"), 502, "origin_protocol_error"),
        fault("status 999", .raw("HTTP/1.1 999 Nine\r\nContent-Length: 1\r\n\r\na"), 502, "origin_protocol_error"),
        fault("NUL in a field", head("A: b\0c\r\nContent-Length: 1"), 502, "origin_protocol_error"),
        fault("folded field", head("A: b\r\n c\r\nContent-Length: 1"), 502, "origin_protocol_error"),
        fault(
            "over a hundred lines", head(String(repeating: "A: b\r\n", count: 100) + "Content-Length: 1"), 502,
            "origin_protocol_error"),
        fault(
            "over 64 KiB of head",
            head(String(repeating: "A: \(String(repeating: "b", count: 8_000))\r\n", count: 9) + "Content-Length: 1"),
            502, "origin_protocol_error"),
        fault(
            "nine interim answers",
            .raw(
                String(repeating: "HTTP/1.1 103 Early\r\n\r\n", count: 9)
                    + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"), 502, "origin_protocol_error"),
        fault("negative length", head("Content-Length: -1"), 502, "origin_protocol_error"),
        fault(
            "two different lengths", head("Content-Length: 1\r\nContent-Length: 2"), 502, "origin_protocol_error"),
        fault(
            "length and chunks",
            head("Content-Length: 1\r\nTransfer-Encoding: chunked", body: "1\r\na\r\n0\r\n\r\n"), 502,
            "origin_protocol_error"),
        fault("bad chunk", head("Transfer-Encoding: chunked", body: "zz\r\na\r\n"), 502, "origin_protocol_error"),
        fault("content coding", image.with("Content-Encoding", "gzip"), 502, "origin_protocol_error"),
        fault("206", FakeResponse(status: 206, fields: image.fields, body: image.body), 502, "origin_protocol_error"),
        fault("304", .status(304), 502, "origin_protocol_error"),
    ]

    static let unwanted: [Fault] = [
        fault("announced over the cap", .image(bytes(1 << 20)), 413, "source_too_large", cap),
        fault("chunked over the cap", .image(bytes(4 << 20)).framed(by: .chunked), 413, "source_too_large", cap),
        fault("endless over the cap", .image(bytes(4 << 20)).framed(by: .close), 413, "source_too_large", cap),
        fault("empty", .image([]), 415, "not_an_image"),
        fault("204", .status(204), 415, "not_an_image"),
        fault("401", .status(401), 502, "origin_error"), fault("403", .status(403), 502, "origin_error"),
        fault("429", .status(429), 502, "origin_error"), fault("500", .status(500), 502, "origin_error"),
        fault("503", .status(503), 502, "origin_error"), fault("404", .status(404), 404, "source_not_found"),
        fault("410", .status(410), 404, "source_not_found"),
        fault("HTML", .image(Array("<html>".utf8), type: "text/html"), 415, "not_an_image"),
        fault("HTML as an image", .image(Array("<html>".utf8), type: "image/png"), 415, "not_an_image"),
        fault("redirect to itself", .redirect(to: "?"), 502, "too_many_redirects"),
        fault("redirect without Location", .status(302), 502, "origin_protocol_error"),
        fault("redirect to a denied place", .redirect(to: "http://169.254.169.254/"), 403, "source_not_allowed"),
        fault("redirect to another scheme", .redirect(to: "file:///etc/passwd"), 403, "source_not_allowed"),
    ]

    private static let cap = ["--max-source-bytes", "256KiB"]

    @Test(arguments: unreachable + late + malformed + unwanted)
    func `a fault is the same for one client and for fifty, without lasting effects`(fault: Fault) async throws {
        try await withService(fault.arguments) { running in
            let gate = Gate()
            running.origin.serve("/fault", fault.answer)
            running.origin.serve("/held", fault.answer.held(at: gate))
            running.origin.serve("/good.png", Self.image)
            expect(try await running.thumbnail("/fault"), fault)
            try await withThrowingTaskGroup(of: RawHTTPClient.Response.self) { group in
                for _ in 0..<50 { group.addTask { try await running.thumbnail("/held") } }
                _ = await eventually { running.waiters >= 50 || gate.arrivedCount > 1 }
                gate.open()
                for try await answer in group { expect(answer, fault) }
            }
            if fault.arguments.isEmpty, !fault.mayRepeat { #expect(running.origin.hits("/held") == 1) }
            try await expectHealth(running)
        }
    }

    @Test(arguments: [
        ("none.test", 403, "source_not_allowed"), ("broken.test", 502, "origin_unreachable"),
        ("silent.test", 504, "origin_timeout"),
    ])
    func `an unknown name has the same response for one client and for fifty`(
        name: String, status: Int, code: String
    ) async throws {
        let names = try FakeNameServer()
        names.serve("broken.test", .failure)
        names.serve("silent.test", .silence)
        try await withService(["--connect-timeout", "2s"], configure: { $0.downloads.nameServers = names.endpoint }) {
            running in
            let fault = Self.fault(name, .silence, status, code)
            running.origin.serve("/good.png", Self.image)
            try await expectAll(running, "http://\(name)/a.png", fault)
            try await expectHealth(running)
        }
    }

    @Test func `a refused connection has the same response for one client and for fifty`() async throws {
        let closed = try FakeOrigin()
        closed.stop()
        #expect(await eventually { (try? RawHTTPClient(port: UInt16(closed.port))) == nil })
        try await withService { running in
            running.origin.serve("/good.png", Self.image)
            try await expectAll(running, closed.url("/a.png"), Self.fault("", .silence, 502, "origin_unreachable"))
            try await expectHealth(running)
        }
    }

    @Test func `an unaccepted connection has the same response for one client and for fifty`() async throws {
        let deaf = try DeafListener()
        try await withService(["--connect-timeout", "2s"]) { running in
            running.origin.serve("/good.png", Self.image)
            let url = "http://127.0.0.1:\(deaf.port)/a.png"
            try await expectAll(running, url, Self.fault("", .silence, 504, "origin_timeout"))
            try await expectHealth(running)
        }
        withExtendedLifetime(deaf) {}
    }

    private func expectAll(_ running: RunningService, _ url: String, _ fault: Fault) async throws {
        expect(try await running.send("GET", "/thumbnail?url=\(url)&w=32"), fault)
        try await withThrowingTaskGroup(of: RawHTTPClient.Response.self) { group in
            // Another source, because the first one's failure is cached.
            for _ in 0..<50 { group.addTask { try await running.send("GET", "/thumbnail?url=\(url)%3Fb&w=32") } }
            for try await answer in group { expect(answer, fault) }
        }
    }

    private func expect(_ answer: RawHTTPClient.Response, _ fault: Fault) {
        #expect(answer.status == fault.status)
        #expect(answer.text.contains("\"code\":\"\(fault.code)\""), "\(answer.text)")
        #expect(!answer.text.contains("127.0.0.1"))
        if fault.code == "origin_error" { #expect(answer.text.contains("\"upstreamStatus\":")) }
    }

    private func expectHealth(_ running: RunningService) async throws {
        #expect(try await running.thumbnail("/good.png").status == 200)
        #expect(
            await eventually {
                running.service.downloader.activeRequestCount == 0 && running.service.downloader.fetches.isEmpty
            })
    }
}

extension RunningService {
    /// Number of clients that wait for a download.
    var waiters: Int { service.downloader.fetches.map(\.receipts.count).reduce(0, +) }
}

private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

/// A listener that never accepts and whose queue is full, so that further connections get no response.
private final class DeafListener: Sendable {
    let port: Int
    private let descriptors: [CInt]

    init() throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        var descriptors = [listener]
        unsafe withUnsafeMutablePointer(to: &name) { name in
            unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                unsafe bind(listener, name, length)
                listen(listener, 0)
                unsafe getsockname(listener, name, &length)
                for _ in 0..<4 {
                    let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
                    let client = socket(AF_INET, type, 0)
                    unsafe connect(client, name, length)
                    descriptors.append(client)
                }
            }
        }
        port = Int(in_port_t(bigEndian: name.sin_port))
        self.descriptors = descriptors
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
