import Foundation
import Glibc
import TestSupport
import Testing

@testable import Commands
@testable import Composition
@testable import HTTPServing
@testable import Settings

@Suite(.timeLimit(.minutes(1)))
struct UnixSocketTests {
    private let folder = TemporaryFolder()

    private var arguments: [String] {
        ["serve", "--bind", "unix:\(folder.path)/public", "--admin-bind", "unix:\(folder.path)/admin"]
    }

    private func client(_ bind: String) throws -> AdminClient {
        try AdminClient(
            SettingsLoader.load(arguments: ["--admin-bind", bind], environment: [:], readFile: { _ in "{}" }))
    }

    private func permissions(of name: String) -> mode_t? {
        var status = stat()
        return unsafe stat("\(folder.path)/\(name)", &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    @Test func `the service listens on Unix sockets, and commands use them`() throws {
        let process = AlulaProcess(arguments + ["--socket-mode", "0600"])
        #expect(try process.start(until: "adminPort").contains("unix:\(folder.path)/public"))
        #expect(permissions(of: "public") == 0o600 && permissions(of: "admin") == 0o600)
        let answer = try client("unix:\(folder.path)/admin").blockingSend("GET", to: "/status")
        #expect(answer.status == 200 && answer.json != nil)
        #expect(try client("unix:\(folder.path)/public").blockingSend("GET", to: "/health/ready").status == 200)
        let second = AlulaProcess(arguments)
        #expect(try second.start(until: "not a socket").contains("/admin is the socket of a running program"))
        #expect(second.end() == 69)
        #expect(process.terminate() == 0)
        #expect(permissions(of: "public") == nil && permissions(of: "admin") == nil)
    }

    @Test func `the socket of a killed process is replaced, and other files are not`() throws {
        let killed = AlulaProcess(arguments)
        _ = try killed.start(until: "adminPort")
        killed.send(SIGKILL)
        #expect(killed.end() == nil)
        #expect(permissions(of: "public") == 0o660)
        let next = AlulaProcess(arguments)
        #expect(try next.start(until: "adminPort").contains("listening"))
        #expect(next.terminate() == 0)
        folder.write("public", [1])
        let last = AlulaProcess(arguments)
        #expect(try last.start(until: "not a socket").contains("not a socket"))
        #expect(last.end() == 69)
        #expect(FileManager.default.contents(atPath: "\(folder.path)/public") == Data([1]))
    }

    @Test(arguments: ["unix:", "unix:relative", "unix:/" + String(repeating: "a", count: 107)])
    func `an unusable path is rejected`(bind: String) {
        #expect(throws: SettingsLoader.Failure.self) {
            try SettingsLoader.load(arguments: ["--bind", bind], environment: [:], readFile: { _ in "{}" })
        }
    }

    @Test func `sockets are inherited by their names`() throws {
        let environment = ["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "admin:public"]
        var settings = Settings()
        try ServiceManager(environment, process: 7).passSockets(to: &settings)
        #expect(settings.adminListener.inheritedSocket == 3 && settings.publicListener.inheritedSocket == 4)
        settings = Settings()
        try ServiceManager(environment, process: 8).passSockets(to: &settings)
        #expect(settings.adminListener.inheritedSocket == nil && settings.publicListener.inheritedSocket == nil)
        #expect(throws: ServiceManager.UnknownSocket.self) {
            try ServiceManager(["LISTEN_PID": "7", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "alula.socket"], process: 7)
        }
    }

    @Test func `the supervisor learns that the service is ready and that it stops`() throws {
        let path = "\(folder.path)/notify"
        let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(try #require(UnixSocketAddress(path)).bind(descriptor))
        let manager = try ServiceManager(["NOTIFY_SOCKET": path])
        manager.reportReady()
        manager.reportStopping()
        let texts = (0..<2).map { _ in
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = unsafe recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        #expect(texts == ["READY=1", "STOPPING=1"])
        // Without a supervisor this has no effect.
        try ServiceManager([:]).reportReady()
    }
}
