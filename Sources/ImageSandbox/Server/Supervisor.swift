import CLinux
import CSeccompShim
import Glibc

/// Decides about the system calls that a worker's filter leaves to the server: it grants a bounded number of threads
/// and nothing else.
///
/// The calling thread of the worker waits in the kernel for the decision. One thread at a time uses a supervisor, as it
/// does its worker.
@safe
final class Supervisor {
    /// Readable when a call waits for a decision.
    let descriptor: CInt
    private let process: pid_t
    /// Threads that may start before the worker's threads are counted again.
    private var unusedGrants = 0
    private var granted = 0
    private var refused = 0

    /// Largest number of threads of a worker: twice what a HEIC file of many tiles was seen to use.
    static let mostThreads = 24
    /// Largest number of threads that may start for one image; a large HEIC file uses two for each tile.
    private static let mostGrants = 10_000
    /// Largest number of refused threads; a library gives up much earlier.
    private static let mostRefusals = 64

    /// Takes over the descriptor that `process` sent.
    init(adopting descriptor: CInt, of process: pid_t) {
        self.descriptor = descriptor
        self.process = process
    }

    deinit {
        close(descriptor)
    }

    /// Resets the counts for a new image.
    func begin() {
        (granted, refused) = (0, 0)
    }

    /// Decides about the next call; returns the name of a forbidden call, which stays unanswered.
    func judge() -> String? {
        var call = CSeccompShimCall()
        // The calling process may have ended by now.
        guard unsafe CSeccompShim_next_call(descriptor, &call) == 0 else { return nil }
        let isGranted = call.is_thread != 0 && mayStartThread()
        if call.is_thread == 0 || !isGranted && refused >= Self.mostRefusals { return name(of: call) }
        if isGranted { granted += 1 } else { refused += 1 }
        _ = unsafe CSeccompShim_answer(descriptor, &call, isGranted ? 1 : 0)
        return nil
    }

    private func mayStartThread() -> Bool {
        guard granted < Self.mostGrants else { return false }
        if unusedGrants == 0 { unusedGrants = max(0, Self.mostThreads - Int(CLinux_thread_count(process))) }
        guard unusedGrants > 0 else { return false }
        unusedGrants -= 1
        return true
    }

    private func name(of call: CSeccompShimCall) -> String {
        var text = [CChar](repeating: 0, count: Int(CSeccompShim_name_size))
        unsafe withUnsafePointer(to: call) { unsafe CSeccompShim_name($0, &text) }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension MessageSocket {
    /// The end of a wait for a worker.
    enum Event {
        /// A message waits, or the worker has ended.
        case message
        case nothing
        /// The worker waits in a forbidden system call of this name, from which it never returns.
        case forbidden(call: String)
    }

    /// Waits for a message, and decides about one system call if it comes first.
    ///
    /// Nothing if the time is up or a thread was granted or refused.
    func event(_ supervisor: Supervisor?, milliseconds: CInt) -> Event {
        // The kernel always reports the connection's end, whatever events are asked for.
        var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let supervisor { entries.append(pollfd(fd: supervisor.descriptor, events: Int16(POLLIN), revents: 0)) }
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return .nothing }
        if let supervisor, entries[1].revents & Int16(POLLIN) != 0, let call = supervisor.judge() {
            return .forbidden(call: call)
        }
        return entries[0].revents != 0 ? .message : .nothing
    }
}
