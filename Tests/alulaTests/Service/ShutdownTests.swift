import Coordination
import Foundation
import Glibc
import TestSupport
import Testing
import ThumbnailAPI

@testable import Composition
@testable import Settings

@Suite(.timeLimit(.minutes(1)))
struct ShutdownTests {
    @Test func `a running request finishes, readiness fails first, and new connections fail`() async throws {
        let running = try RunningService()
        let gate = Gate()
        running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array).held(at: gate))
        async let pending = running.thumbnail("/a.jpg")
        await gate.arrivals(1)
        let second = try running.connect()
        let stopping = Task { await running.service.shutDown(running.settings) }
        #expect(await eventually { running.service.lifecycle.isDraining })
        second.send("GET \(running.target("/b.jpg")) HTTP/1.1\r\nHost: alula\r\n\r\n")
        let rejected = try? await second.response()
        #expect(rejected == nil || rejected?.status == 503)
        gate.open()
        #expect(try await pending.status == 200)
        await stopping.value
        #expect((try? running.connect()) == nil)
        running.origin.stop()
    }

    @Test func `the process exits with 0 on SIGTERM`() async throws {
        let process = AlulaProcess(["serve", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0"])
        let line = try process.start(until: "adminPort")
        #expect(line.contains("\"message\":\"listening\"") && line.contains("\"adminPort\":"))
        #expect(process.terminate() == 0)
    }

    @Test(.unlessThreadSanitized("each start takes seconds"))
    func `a process that has just become ready ends with 0, at any moment`() throws {
        for _ in 0..<25 {
            let process = AlulaProcess(["serve", "--bind", "127.0.0.1", "--port", "0", "--admin-port", "0"])
            _ = try process.start(until: "adminPort")
            // The thread that writes log lines must not handle the signal, which would kill the process.
            #expect(process.terminate() == 0)
        }
    }

    @Test func `SIGHUP reloads the settings and does not end the process`() throws {
        let folder = TemporaryFolder()
        folder.write("alula.json5", Array("{}".utf8))
        let process = AlulaProcess([
            "serve", "--config", folder.path + "/alula.json5", "--bind", "127.0.0.1", "--port", "0", "--admin-port",
            "0",
        ])
        _ = try process.start(until: "adminPort")
        folder.write("alula.json5", Array("{ sizes: [32] }".utf8))
        process.send(SIGHUP)
        #expect(process.output(until: "reloaded").contains("\"settings reloaded\""))
        folder.write("alula.json5", Array("{ sizes: [".utf8))
        process.send(SIGHUP)
        #expect(process.output(until: "not reloaded").contains("\"error\""))
        #expect(process.terminate() == 0)
    }

    @Test func `starting and stopping the service leaks no descriptors`() async throws {
        try await cycle()
        let before = openDescriptors
        for _ in 0..<20 { try await cycle() }
        #expect(await eventually { openDescriptors <= before })
    }

    private func cycle() async throws {
        try await withService { running in
            running.origin.serve("/a.jpg", .image(ImageFixture.jpeg.array))
            let status = try await running.thumbnail("/a.jpg").status
            #expect(status == 200)
        }
    }
}

private var openDescriptors: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
}
