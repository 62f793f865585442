import CLinux
import Coordination
import Glibc
import Telemetry
import TestSupport
import Testing

@testable import ImageSandbox

@Suite(.serialized, .timeLimit(.minutes(5)))
struct ConfinementTests {
    /// The way in which a worker is started.
    enum Start: CaseIterable {
        case program, copy

        #if TSAN
        // ThreadSanitizer has its own thread, so no process can be forked.
        static let allCases = [program]
        #endif

        /// Starts a worker; for a copy, the template has exited afterward.
        func worker() throws -> WorkerProcess {
            let launch = WorkerLaunch.ofTests
            guard self == .copy else { return try launch.start() }
            let template = try launch.startTemplate()
            defer { template.end() }
            return try launch.start(copying: template)
        }
    }

    #if SANITIZING
    // A thread of the sanitizer opens a file, which a worker must not.
    private static let tried = ForbiddenAction.allCases.filter { $0 != .startThreads }
    #else
    private static let tried = ForbiddenAction.allCases
    #endif

    @Test(arguments: tried, Start.allCases)
    func `a forbidden action fails, or ends the worker`(action: ForbiddenAction, start: Start) throws {
        let worker = try start.worker()
        guard worker.protections.isSandbox else {
            _ = worker.end()
            return
        }
        let attempt = worker.attempt(action)
        switch action {
        case .openFile: #expect(attempt == .finished(error: EACCES))
        case .startThreads: #expect(attempt == .finished(error: EAGAIN))
        case .sendDescriptor: #expect(attempt == .ended)
        default: #expect(attempt == Self.calls[action].map { .forbidden(call: $0) })
        }
        // A supervised call still waits and has no effect until the server kills the worker.
        let isOver = action == .sendDescriptor
        #expect(worker.end() == .killed(signal: isOver ? SIGSYS : SIGKILL))
    }

    private static let calls: [ForbiddenAction: String] = [
        .openSocket: "socket", .execute: "execve", .trace: "ptrace", .signal: "kill", .fork: "clone",
        .executableMemory: "mmap", .removePages: "madvise",
    ]

    @Test(.unlessSanitized("a thread of the sanitizer opens a file, which kills a worker"), arguments: Start.allCases)
    func `a worker has few threads, however many it requests`(start: Start) throws {
        let worker = try start.worker()
        defer { _ = worker.end() }
        try #require(worker.protections.isSupervised)
        #expect(worker.attempt(.startThreads) == .finished(error: EAGAIN))
        #expect(CLinux_thread_count(worker.id) == CInt(Supervisor.maximumThreads))
        // Repeated calls start no more threads and finally end the worker.
        for _ in 0..<100 {
            guard worker.attempt(.startThreads) == .finished(error: EAGAIN) else { break }
            #expect(CLinux_thread_count(worker.id) == CInt(Supervisor.maximumThreads))
        }
    }

    @Test(arguments: [
        WorkerEnd.killed(signal: SIGSYS), .killed(signal: SIGXCPU), .killed(signal: SIGXFSZ), .killed(signal: SIGKILL),
        .killed(signal: SIGSEGV), .exited(1),
    ])
    func `the cause follows from how a worker ended`(end: WorkerEnd) {
        let causes: [WorkerEnd: SandboxMetrics.Cause] = [
            .killed(signal: SIGSYS): .forbiddenCall, .killed(signal: SIGXCPU): .limit, .killed(signal: SIGXFSZ): .limit,
            .killed(signal: SIGKILL): .killed,
        ]
        #expect(end.cause == causes[end] ?? .crash)
    }

    @Test(arguments: Start.allCases)
    func `a worker inherits neither descriptors nor secrets`(start: Start) throws {
        unsafe setenv("ALULA_SECRET_OF_A_TEST", "secret", 1)
        defer { unsafe unsetenv("ALULA_SECRET_OF_A_TEST") }
        let worker = try start.worker()
        defer { _ = worker.end() }
        let open = (0..<256).filter { unsafe access("/proc/\(worker.id)/fd/\($0)", F_OK) == 0 }
        #expect(open == [0, 1, 2, 3])
        let environment = try #require(contents("/proc/\(worker.id)/environ"))
        #expect(environment.contains("SWIFT_BACKTRACE") && !environment.contains("SECRET"))
    }

    @Test(arguments: Start.allCases)
    func `a worker ends with the thread that started it`(start: Start) async throws {
        let worker = Locked<WorkerProcess?>(nil)
        let pool = WorkerPool(count: 1, maximumQueued: 1, name: "test")
        _ = pool.submit { _ in
            let started = try? start.worker()
            worker.withLock { $0 = started }
        }
        #expect(await eventually(within: .seconds(60)) { worker.withLock { $0 } != nil })
        pool.shutDown()
        let started = try #require(worker.withLock { $0 })
        // The wait ends because the connection closes, not because of the time limit.
        #expect(started.socket.wait(milliseconds: 60_000))
        #expect(started.end() == .killed(signal: SIGKILL))
    }

    @Test func `a worker without the required protections is not used`() throws {
        var required = Protections.offered
        required.landlockVersion += 1
        let roster = try WorkerRoster(
            SandboxConfiguration(launch: .ofTests, parallelism: 1), workerCount: 1, lifetime: .decoder,
            atLeast: required, metrics: SandboxMetrics(registry: MetricsRegistry()), logger: .silent)
        defer { roster.shutDown() }
        #expect(throws: WorkerLaunch.Failure.self) { try roster.blockingProtections() }
        #expect(roster.processes.isEmpty)
    }

    @Test func `protections are compared one by one`() {
        let all = Protections(
            hasNoNewPrivileges: true, hasSystemCallFilter: true, isSupervised: true, hasLimits: true, landlockVersion: 4
        )
        #expect(all.isAtLeast(all) && all.isAtLeast(.none) && !Protections.none.isAtLeast(all))
        for weaken: (inout Protections) -> Void in [
            { $0.hasNoNewPrivileges = false }, { $0.hasSystemCallFilter = false }, { $0.hasLimits = false },
            { $0.isSupervised = false },
            { $0.landlockVersion = 3 },
        ] {
            var weaker = all
            weaken(&weaker)
            #expect(!weaker.isAtLeast(all) && all.isAtLeast(weaker))
        }
    }

    @Test func `limits read back as they were written`() {
        let limits = WorkerLimits(memory: 1 << 30, pixels: 1 << 20, processorSeconds: 60)
        #expect(WorkerLimits(limits.arguments) == limits)
        for wrong in [[], ["1", "2"], ["1", "2", "x"], ["1", "2", "-3"], ["1", "2", "3", "4"], ["0", "1", "1"]] {
            #expect(WorkerLimits(wrong) == nil)
        }
    }
}
