import ImageSandbox
import Telemetry
import TestSupport
import Testing

@testable import Composition
@testable import Settings

@Suite(.serialized, .timeLimit(.minutes(3)))
struct SandboxTests {
    private static func confine(_ settings: inout Settings) {
        settings.sandbox.decodesInProcess = false
        settings.sandbox.executable = BuiltExecutable.alula
        settings.renderWorkers = 1
    }

    @Test func `a thumbnail is the same with and without worker processes`() async throws {
        func answers(_ configure: (inout Settings) -> Void) async throws -> [[UInt8]] {
            try await withService(configure: configure) { running in
                var bodies: [[UInt8]] = []
                for fixture in [ImageFixture.jpeg, .png, .webp, .gif, .jpegSwappedPrimaries] {
                    running.origin.serve("/\(fixture.rawValue)", .image(fixture.array))
                    let answer = try await running.thumbnail("/\(fixture.rawValue)")
                    #expect(answer.status == 200)
                    bodies.append(answer.body)
                    let avif = try await running.thumbnail("/\(fixture.rawValue)", "w=32&format=avif")
                    #expect(avif.status == 200)
                    bodies.append(avif.body)
                }
                return bodies
            }
        }
        let inWorkers = try await answers(Self.confine)
        let inProcess = try await answers { _ in }
        let isSame = inWorkers == inProcess
        #expect(isSame)
    }

    @Test func `the time and memory of worker processes are measured`() async throws {
        func value(_ name: String, in text: String) throws -> Double {
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name + "{process=\"workers\"}") })
            return try #require(Double(line.split(separator: " ")[1]))
        }
        try await withService(configure: Self.confine) { running in
            running.origin.serve("/a", .image(ImageFixture.jpeg.array))
            for width in 32..<40 {
                let status = try await running.thumbnail("/a", "w=\(width)&format=avif").status
                #expect(status == 200)
            }
            let metrics = running.service.engine.registry.prometheusText
            #expect(try value("alula_process_cpu_seconds_total", in: metrics) > 0)
            #expect(try value("alula_resident_bytes", in: metrics) > 1_000_000)
        }
    }

    @Test func `AVIF is decoded only in a sandbox by default`() async throws {
        let isConfined = try await withService(configure: Self.confine) { running in
            running.origin.serve("/a", .image(ImageFixture.avif.array, type: "image/avif"))
            let isConfined = try #require(running.service.sandbox).protections.isSandbox
            let status = try await running.thumbnail("/a").status
            #expect(status == (isConfined ? 200 : 415))
            return isConfined
        }
        #expect(isConfined == Protections.offered.isSandbox)
        try await withService { running in
            running.origin.serve("/a", .image(ImageFixture.avif.array, type: "image/avif"))
            let status = try await running.thumbnail("/a").status
            #expect(status == 415)
        }
    }

    @Test func `AVIF with a decoder's warning is served, and crashes no worker`() async throws {
        try await withService(configure: Self.confine) { running in
            guard try #require(running.service.sandbox).protections.isSandbox else { return }
            let file = AVIFWriter.withPrivateMetadata(ImageFixture.avif.array)
            running.origin.serve("/a", .image(file, type: "image/avif"))
            let status = try await running.thumbnail("/a").status
            #expect(status == 200)
            for cause in ["violation", "breach", "crash", "killed", "limit"] {
                let ends = try await running.metric("alula_decode_worker_ends_total{cause=\"\(cause)\"}")
                #expect(ends == 0, "\(cause)")
            }
        }
    }

    @Test func `a damaged source is answered 422 and crashes no worker`() async throws {
        try await withService(configure: Self.confine) { running in
            running.origin.serve("/a", .image(ImageFixture.jpegTruncated.array))
            let status = try await running.thumbnail("/a").status
            #expect(status == 422)
            let ends = try await running.metric("alula_decode_worker_ends_total")
            #expect(ends == 0)
        }
    }

    @Test func `a service that requires a sandbox does not start without one`() {
        #expect(throws: Sandbox.Required.self) {
            try RunningService(["--require-sandbox", "on"])
        }
    }
}
