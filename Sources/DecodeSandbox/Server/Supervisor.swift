import CLinux
import CSeccompShim
import Glibc

/// The end at which the kernel asks about what a worker wants to do and its filter does not allow outright: a few threads are granted,
/// nothing else is.
///
/// The thread of the worker that asks waits in the kernel until it is answered, or killed. Used by one thread at a time, as the worker is.
@safe
final class Supervisor {
    /// Readable when something is asked.
    let descriptor: CInt
    private let process: pid_t
    /// Threads that may be started before anybody has to count them again.
    private var credit = 0
    private var granted = 0
    private var refused = 0

    /// Threads that a worker has at a time: twice what a HEIC file of many tiles was seen to take.
    static let mostThreads = 24
    /// Threads that are started for one picture, each tile of a large HEIC file taking two.
    private static let mostGrants = 10_000
    /// A library gives up much earlier.
    private static let mostRefusals = 64

    /// Takes over the descriptor that `process` sent.
    init(adopting descriptor: CInt, of process: pid_t) {
        self.descriptor = descriptor
        self.process = process
    }

    deinit {
        close(descriptor)
    }

    /// A new picture is worked on.
    func begin() {
        (granted, refused) = (0, 0)
    }

    /// Answers what is asked; the name of a system call that no worker needs, which is left without an answer.
    func judge() -> String? {
        var call = CSeccompShimCall()
        // Who asked may be gone by now.
        guard unsafe CSeccompShim_next_call(descriptor, &call) == 0 else { return nil }
        let isGranted = call.is_thread != 0 && mayStartThread()
        if call.is_thread == 0 || !isGranted && refused >= Self.mostRefusals { return name(of: call) }
        if isGranted { granted += 1 } else { refused += 1 }
        _ = unsafe CSeccompShim_answer(descriptor, &call, isGranted ? 1 : 0)
        return nil
    }

    private func mayStartThread() -> Bool {
        guard granted < Self.mostGrants else { return false }
        if credit == 0 { credit = max(0, Self.mostThreads - Int(CLinux_thread_count(process))) }
        guard credit > 0 else { return false }
        credit -= 1
        return true
    }

    private func name(of call: CSeccompShimCall) -> String {
        var text = [CChar](repeating: 0, count: Int(CSeccompShim_name_size))
        unsafe withUnsafePointer(to: call) { unsafe CSeccompShim_name($0, &text) }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension MessageSocket {
    /// What a wait for a worker came to.
    enum Event {
        /// It has said something, or is gone.
        case word
        case nothing
        /// It waits in a system call of this name, which it will never return from.
        case forbidden(call: String)
    }

    /// Waits for the worker's word, and answers what its kernel asks meanwhile; nothing when the time is up, or something was granted.
    func event(_ supervisor: Supervisor?, milliseconds: CInt) -> Event {
        // The end is reported whether asked for or not.
        var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let supervisor { entries.append(pollfd(fd: supervisor.descriptor, events: Int16(POLLIN), revents: 0)) }
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return .nothing }
        if let supervisor, entries[1].revents & Int16(POLLIN) != 0, let call = supervisor.judge() {
            return .forbidden(call: call)
        }
        return entries[0].revents != 0 ? .word : .nothing
    }
}
