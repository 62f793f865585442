import Coordination
import Glibc
import Telemetry

/// A process that has loaded all libraries but read no input; workers are copies of it.
///
/// A copy starts in a fraction of the time of a new program, and shares all memory that neither process changes. All
/// copies have the same addresses, so a template is replaced when an attacker may know them, and also periodically.
///
/// A template is used by one thread and ends with it; ``markExposed()`` may be called on any thread.
final class WorkerTemplate: Sendable {
    let id: pid_t
    private let socket: MessageSocket
    private let start = SystemTimekeeper().now
    private let state = Locked((copies: 0, isExposed: false))

    static let maximumCopies = 64
    static let longestLife = Duration.seconds(3_600)
    /// In milliseconds; a copy takes less than one.
    private static let timeLimit: CInt = 1_000

    init(id: pid_t, socket: MessageSocket) {
        self.id = id
        self.socket = socket
    }

    func copy(_ end: MessageSocket) -> pid_t? {
        guard socket.send(TemplateProcess.request, [end.descriptor]), socket.wait(milliseconds: Self.timeLimit),
            case .copied(let process) = WorkerResponse(socket.receive(count: WorkerResponse.byteCount)), process > 0
        else { return nil }
        state.withLock { $0.copies += 1 }
        return process
    }

    func markExposed() { state.withLock { $0.isExposed = true } }

    var isExposed: Bool { state.withLock { $0.isExposed } }

    var copies: Int { state.withLock { $0.copies } }

    var isUsedUp: Bool {
        isExposed || copies >= Self.maximumCopies || SystemTimekeeper().now - start > Self.longestLife
    }

    func end() { _ = WorkerEnd(killing: id) }
}

/// Starts workers as copies of a template, or as new programs if there is none.
///
/// Used by one thread; the template and the workers end with it.
struct WorkerSpawner {
    private let launch: WorkerLaunch
    private let logger: Logger
    private(set) var template: WorkerTemplate?
    private var nextTemplate = Duration.zero
    private static let pauseAfterFailure = Duration.seconds(60)

    init(_ launch: WorkerLaunch, logger: Logger) {
        self.launch = launch
        self.logger = logger
    }

    mutating func start() throws(WorkerLaunch.Failure) -> WorkerProcess {
        do {
            if let worker = try launch.startForked() { return worker }
        } catch {
            logger.warning("forked worker process unusable", ["reason": .string(error.description)])
        }
        if template?.isUsedUp == true { end() }
        let now = SystemTimekeeper().now
        if now >= nextTemplate {
            do throws(WorkerLaunch.Failure) {
                let template: WorkerTemplate
                if let current = self.template {
                    template = current
                } else {
                    template = try launch.startTemplate()
                    self.template = template
                }
                return try launch.start(copying: template)
            } catch {
                logger.warning("a worker process starts without a template", ["reason": .string(error.description)])
                // Replace a killed template immediately; one that never worked probably never will.
                if template?.copies ?? 0 == 0 { nextTemplate = now + Self.pauseAfterFailure }
                end()
            }
        }
        return try launch.start()
    }

    mutating func end() {
        template?.end()
        template = nil
    }
}
