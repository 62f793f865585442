import CLinux
import CSeccompShim
import Coordination
import Glibc
import Imaging
import Recipes

enum Confinement {
    struct MultipleThreads: Error, CustomStringConvertible {
        let description = "it has several threads"
    }

    /// Prepares this process to be confined or copied; after an error it is unusable.
    ///
    /// Waits until it has one thread: other threads would not be confined, and a copy does not have them.
    ///
    /// - Parameter formats: The formats to decode; nil for all.
    static func prepare(for formats: Set<ImageFormat>?) throws {
        _ = CLinux_die_with_parent()
        preferForOutOfMemoryKill()
        try ImageLibrary.startDecoding(formats)
        // Threads that Pango starts end by themselves.
        for _ in 0..<1_000 where CLinux_thread_count(getpid()) != 1 { usleep(1_000) }
        guard CLinux_thread_count(getpid()) == 1 else { throw MultipleThreads() }
    }

    /// Confines this process permanently and returns the protections in force; after an error it is unusable.
    static func confine(_ limits: WorkerLimits, for formats: Set<ImageFormat>?, socket: CInt) throws -> Protections {
        var protections = Protections.none
        CLinux_watch_for_shortage()
        // The limit on memory counts from here; `/proc` is still readable, to determine the current usage.
        protections.hasLimits = limits.enforce()
        protections.hasNoNewPrivileges = CLinux_set_no_new_privileges() == 0
        // This is the only thread so far; threads that libraries start later inherit its restrictions.
        if CLinux_landlock_deny_all() == 0 { protections.landlockVersion = Int(CLinux_landlock_version()) }
        try WarmUp.run(formats)
        ImageLibrary.finishLoading()
        CLinux_return_free_memory()
        CLinux_release_program_pages()
        protections.isSupervised = CSeccompShim_confine_supervised(socket, Self.handOver) == 0
        protections.hasSystemCallFilter = protections.isSupervised || CSeccompShim_confine_alone(socket) == 0
        return protections
    }

    /// Sends the descriptor on which the kernel reports this process's system calls.
    private static let handOver: @convention(c) (CInt, CInt) -> CInt = { socket, listener in
        let message = WorkerResponse.supervised.message
        return unsafe CLinux_send(socket, message, message.count, [listener], 1)
    }

    /// Makes the kernel kill a worker, which can be replaced, before the service when memory is short.
    private static func preferForOutOfMemoryKill() {
        let descriptor = unsafe open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = unsafe write(descriptor, "500", 3)
        close(descriptor)
    }
}

/// Makes the libraries load everything before the process is confined.
enum WarmUp {
    /// - Parameter formats: The formats to prepare; nil for all.
    static func run(_ formats: Set<ImageFormat>?) throws {
        guard ImageLibrary.isNeeded(for: formats) else { return }
        for format in ImageFormat.allCases where formats?.contains(format) != false {
            guard let file = try format.warmUpFile() else { continue }
            let header = try ImageHeader.inspect(file)
            for lane in ImageDecoder.Lane.allCases {
                _ = try ImageDecoder.decode(
                    file, header: header, plan: DecodePlan(level: 2), limits: .none, token: WorkToken(), lane: lane)
            }
        }
    }
}

extension Protections {
    package static var offered: Protections {
        Protections(
            hasNoNewPrivileges: true, hasSystemCallFilter: CSeccompShim_is_available() != 0, isSupervised: true,
            hasLimits: true, landlockVersion: Int(CLinux_landlock_version()))
    }
}
