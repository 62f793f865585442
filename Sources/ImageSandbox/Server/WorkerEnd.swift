import CLinux
import Glibc

enum WorkerEnd: Hashable, CustomStringConvertible {
    case exited(CInt)
    case killed(signal: CInt)

    init(killing process: pid_t) {
        kill(process, SIGKILL)
        var status: CInt = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        self.init(status: status)
    }

    /// The worker crashed or exited because memory was short.
    static let outOfMemory = WorkerEnd.exited(CInt(CLinux_status_of_shortage))
    /// The dynamic linker ends a process that has no memory for thread-local variables.
    private static let outOfThreadLocalMemory = WorkerEnd.exited(127)

    init(status: CInt) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: status & 0x7F)
    }

    var cause: SandboxMetrics.Cause {
        switch self {
        case .killed(SIGSYS): .forbiddenCall
        case .killed(SIGXCPU), .killed(SIGXFSZ): .limit
        case .killed(SIGKILL): .killed
        case Self.outOfMemory, Self.outOfThreadLocalMemory: .outOfMemory
        case .killed, .exited: .crash
        }
    }

    var description: String {
        switch self {
        case .exited(let status): "exited with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
