import Coordination
import Glibc
import Recipes
import Telemetry
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(5)), .unlessThreadSanitized("no process can be copied"))
struct WorkerTemplateTests {
    /// The address at which a process has mapped its executable.
    private static func base(of process: pid_t) throws -> Substring {
        let maps = try #require(contents("/proc/\(process)/maps"))
        // Mappings of sanitizers may precede it.
        let executable = try #require(maps.split(separator: "\n").first { $0.contains("/") })
        return executable.prefix { $0 != "-" }
    }

    /// Starts workers by one spawner, and ends all of them.
    private struct Spawned: ~Copyable {
        var spawner = WorkerSpawner(.ofTests, logger: .silent)
        private(set) var workers: [WorkerProcess] = []

        mutating func next() throws -> WorkerProcess {
            let worker = try spawner.start()
            workers.append(worker)
            return worker
        }

        deinit {
            var spawner = spawner
            spawner.endTemplate()
            for worker in workers { _ = worker.end() }
        }
    }

    @Test func `workers are copies of one template, at the same addresses`() throws {
        var spawned = Spawned()
        let (first, second) = (try spawned.next(), try spawned.next())
        let template = try #require(spawned.spawner.template)
        #expect(first.template === template && second.template === template && template.copies == 2)
        #expect(Set([first.id, second.id, template.id]).count == 3)
        #expect(try Self.base(of: first.id) == Self.base(of: second.id))
        #expect(getpgid(first.id) == first.id)
        #expect(first.protections == second.protections)
    }

    @Test func `the worker after an exposure is a copy of another template, at other addresses`() throws {
        var spawned = Spawned()
        let first = try spawned.next()
        let template = try #require(first.template)
        let base = try Self.base(of: first.id)
        template.markExposed()
        let second = try spawned.next()
        #expect(second.template != nil && second.template !== template)
        #expect(try Self.base(of: second.id) != base)
        #expect(kill(template.id, 0) != 0 && errno == ESRCH)
    }

    @Test func `a template makes no more copies than its limit`() throws {
        let template = try WorkerLaunch.ofTests.startTemplate()
        defer { template.end() }
        for _ in 0..<WorkerTemplate.maximumCopies {
            #expect(!template.isUsedUp)
            let (ours, theirs) = try MessageSocket.pair()
            let copy = try #require(template.copy(theirs))
            #expect(WorkerEnd(killing: copy) == .killed(signal: SIGKILL))
            _ = consume ours
        }
        #expect(template.isUsedUp && !template.isExposed)
    }

    @Test(arguments: [SIGKILL, SIGSTOP])
    func `if the template is lost, a worker starts without one, and the next with another`(signal: CInt) throws {
        var spawned = Spawned()
        let template = try #require(try spawned.next().template)
        kill(template.id, signal)
        #expect(try spawned.next().template == nil)
        let last = try spawned.next()
        #expect(last.template != nil && last.template !== template)
        #expect(last.attempt(.openFile) == .finished(error: EACCES))
    }

    @Test func `a worker at the addresses of a crashed one is replaced after its image`() async throws {
        let roster = try WorkerRoster(
            SandboxConfiguration(launch: .ofTests, parallelism: 1), workerCount: 2, lifetime: .decoder,
            metrics: SandboxMetrics(registry: MetricsRegistry()), logger: .silent)
        defer { roster.shutDown() }
        let isReady = { @Sendable [roster] in roster.idleProcesses.count == 1 }
        let isWhole = { @Sendable [roster] in roster.idleProcesses.count == 2 }
        let (first, second) = (try roster.acquire(token: WorkToken()), try roster.acquire(token: WorkToken()))
        let base = try Self.base(of: second.id)
        #expect(try Self.base(of: first.id) == base)
        kill(first.id, SIGSEGV)
        // The connection closes when the process exits.
        #expect(first.socket.wait(milliseconds: 60_000))
        #expect(roster.reap(first).cause == .crash)
        #expect(await eventually(within: .seconds(60), isReady))
        roster.release(second)
        #expect(!roster.processes.contains(second.id))
        #expect(await eventually(within: .seconds(60), isWhole))
        for process in roster.idleProcesses {
            let itsBase = try Self.base(of: process)
            #expect(itsBase != base)
        }
    }

    @Test func `a worker that is replaced at its end of life leaves the template to the next one`() async throws {
        let fixture = try SandboxFixture { $0.decoderLifetime.requests = 1 }
        let before = await fixture.idle(2)
        let base = try Self.base(of: before[0])
        _ = try fixture.decode(ImageFixture.jpeg.bytes)
        let after = await fixture.idle(2)
        #expect(after != before)
        for process in after { #expect(try Self.base(of: process) == base) }
    }

    @Test func `encoders are copies of another template than decoders`() async throws {
        let fixture = try SandboxFixture()
        let decoder = try #require(await fixture.idle(2).first)
        let encoder = try await fixture.idleEncoder()
        #expect(try Self.base(of: encoder) != Self.base(of: decoder))
    }
}
