import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(5)))
struct IdleWorkerTests {
    /// Decodes a small photograph in a worker and returns the bytes of its pixels.
    private static func decode(by worker: WorkerProcess) throws -> [UInt8] {
        let file = ImageFixture.jpeg.bytes
        let header = try ImageHeader.inspect(file)
        let maximum = header.maximumPixelBytes(of: DecodePlan())
        let job = WorkerJob(
            work: .decode(DecodePlan()), bytes: file, maximumResultBytes: maximum, token: WorkToken())
        let outcome = try worker.perform(job) { answer, output in
            guard case .decoded(let claim) = answer else { throw ImagingError.notAnImage }
            return try claim.image(in: &output, of: header, by: DecodePlan())
        }
        guard case .done(let image) = outcome else { throw ImagingError.notAnImage }
        return image.pixels.array
    }

    /// Resident memory that a worker shares with the server, in kilobytes.
    private static func sharedMemory(of worker: WorkerProcess) throws -> Int {
        let lines = try #require(contents("/proc/\(worker.id)/status")).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("RssShmem:") })
        return try #require(line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) })
    }

    @Test func `a worker that tidies up has no shared memory, and decodes as before`() throws {
        let worker = try WorkerLaunch.ofTests.start()
        defer { _ = worker.end() }
        let pixels = try Self.decode(by: worker)
        #expect(try Self.sharedMemory(of: worker) > 0)
        worker.releaseMemory()
        #expect(try Self.sharedMemory(of: worker) == 0)
        #expect(try Self.decode(by: worker) == pixels)
        #expect(worker.idleFault == nil)
    }

    @Test func `a worker tidies up once after its last request, if it was idle at two checks`() throws {
        let worker = try WorkerLaunch.ofTests.start()
        defer { _ = worker.end() }
        worker.recordIdle()
        #expect(!worker.shouldReleaseMemory)
        for _ in 0..<2 {
            _ = try Self.decode(by: worker)
            #expect(!worker.shouldReleaseMemory)
            worker.recordIdle()
            #expect(worker.shouldReleaseMemory)
            worker.releaseMemory()
            worker.recordIdle()
            #expect(!worker.shouldReleaseMemory)
        }
    }

    @Test func `the roster has idle workers tidy up`() async throws {
        let roster = try WorkerRoster(
            SandboxConfiguration(launch: .ofTests, parallelism: 1), workerCount: 1, lifetime: .decoder,
            metrics: SandboxMetrics(registry: MetricsRegistry()), logger: .silent)
        defer { roster.shutDown() }
        let worker = try roster.acquire(token: WorkToken())
        _ = try Self.decode(by: worker)
        #expect(try Self.sharedMemory(of: worker) > 0)
        roster.release(worker)
        for _ in 0..<2 { roster.releaseMemoryOfIdleWorkers() }
        #expect(await eventually(within: .seconds(60)) { (try? Self.sharedMemory(of: worker)) == 0 })
        #expect(try roster.acquire(token: WorkToken()) === worker)
        roster.release(worker)
    }
}
