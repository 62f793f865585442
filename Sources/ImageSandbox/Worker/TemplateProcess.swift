import CLinux
import Glibc

enum TemplateProcess {
    static let argument = "template"
    /// Carries the copy's socket.
    static let request: [UInt8] = [1]

    /// Returns in the copies only, whose socket replaces `socket`.
    ///
    /// A process with several threads makes none, because a copy has only the thread that made it.
    static func copy(_ socket: MessageSocket) {
        // Pango starts threads that end by themselves.
        for _ in 0..<1_000 where CLinux_thread_count(getpid()) != 1 { usleep(1_000) }
        guard CLinux_thread_count(getpid()) == 1 else {
            _ = socket.write(WorkerResponse.notStarted("it has several threads").message)
            _exit(70)
        }
        // Copies need little of the code used by the start.
        CLinux_release_program_pages()
        var isHeard = socket.write(WorkerResponse.prepared.message)
        while isHeard, let (_, descriptors) = socket.nextMessage(count: request.count), let end = descriptors.first {
            let process = CLinux_copy_process(end)
            if process == 0 { return }
            close(end)
            isHeard = socket.write(WorkerResponse.copied(process).message)
        }
        _exit(0)
    }
}
