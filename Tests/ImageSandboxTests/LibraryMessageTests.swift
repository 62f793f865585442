import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing

@testable import ImageSandbox

/// Messages that libraries write about an image, to standard error or to their own log.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LibraryMessageTests {
    private static func ends(_ fixture: SandboxFixture) -> [SandboxMetrics.Cause: Int] {
        Dictionary(uniqueKeysWithValues: SandboxMetrics.Cause.allCases.map { ($0, fixture.ends($0)) })
            .filter { $0.value > 0 }
    }

    @Test func `AVIF with metadata of a private type is decoded like AVIF without`() throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture()
        try #require(fixture.codec.protections.isSandbox)
        let plain = ImageFixture.avif.bytes
        let file = SharedBytes(AVIFWriter.withPrivateMetadata(plain.array))
        let image = try fixture.decode(file)
        #expect(try image.pixels.array == fixture.decode(plain).pixels.array)
        #expect(Self.ends(fixture) == [:] && fixture.metric("alula_quarantined_total") == 0)
    }

    @Test func `damaged data of an AVIF crashes no worker`() throws {
        try ImageLibrary.start()
        let fixture = try SandboxFixture { $0.decoderLifetime.requests = 100_000 }
        try #require(fixture.codec.protections.isSandbox)
        let whole = ImageFixture.avif.bytes.array
        var rejections = 0
        for place in AVIFWriter.firstItem(of: whole) {
            for bits: UInt8 in [0x80, 0x10, 0x05, 0xFF] {
                var damaged = whole
                damaged[place] ^= bits
                if (try? fixture.decode(SharedBytes(damaged))) == nil { rejections += 1 }
            }
        }
        #expect(rejections > 0)
        #expect(Self.ends(fixture) == [:] && fixture.metric("alula_quarantined_total") == 0)
    }

    /// A roster of one worker, with its log lines and metrics.
    private struct Watched {
        let sink = LinesSink()
        let registry = MetricsRegistry()
        let roster: WorkerRoster

        init() throws {
            roster = try WorkerRoster(
                SandboxConfiguration(launch: .ofTests, parallelism: 1), workerCount: 1, lifetime: .decoder,
                metrics: SandboxMetrics(registry: registry), logger: Logger(level: .debug, sink: sink))
        }
    }

    @Test func `a forbidden call during a request is stopped and reported`() throws {
        let watched = try Watched()
        defer { watched.roster.shutDown() }
        try #require(watched.roster.blockingProtections().isSupervised)
        let worker = try watched.roster.acquire(token: WorkToken())
        #expect(worker.socket.send(WorkerRequest.attempt(.openSocket).message))
        let job = WorkerJob(
            work: .decode(DecodePlan()), bytes: ImageFixture.jpeg.bytes, maximumResultBytes: 1, token: WorkToken())
        let outcome = try worker.perform(job) { _, _ in 0 }
        guard case .forbidden(let call) = outcome else {
            Issue.record("it was not stopped: \(outcome)")
            return
        }
        #expect(call == "socket")
        watched.roster.terminate(worker, cause: .forbiddenCall)
    }

    @Test func `a worker that makes a forbidden call between two requests is logged and replaced`() async throws {
        let watched = try Watched()
        defer { watched.roster.shutDown() }
        try #require(watched.roster.blockingProtections().isSupervised)
        let worker = try watched.roster.acquire(token: WorkToken())
        let supervisor = try #require(worker.supervisor)
        #expect(worker.socket.send(WorkerRequest.attempt(.openSocket).message))
        let isAsking = { @Sendable [descriptor = supervisor.descriptor] in
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&entry, 1, 0) > 0
        }
        #expect(await eventually(within: .seconds(60), isAsking))
        watched.roster.release(worker)
        let next = try watched.roster.acquire(token: WorkToken())
        #expect(next.id != worker.id)
        watched.roster.release(next)
        #expect(watched.registry.prometheusText.contains("alula_decode_worker_ends_total{cause=\"violation\"} 1"))
        let line = try #require(watched.sink.lines.first { $0.message == "worker process violated the sandbox" })
        #expect(line.level == .error)
        #expect(line.fields.contains { $0.0 == "reason" && $0.1 == "it tried the system call socket" })
    }
}

private final class LinesSink: LogSink {
    private let kept = Locked<[LogLine]>([])

    var lines: [LogLine] { kept.withLock { $0 } }

    func write(_ line: LogLine) { kept.withLock { $0.append(line) } }
}
