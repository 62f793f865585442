import CLinux
import CSeccompShim
import Glibc

/// Decides on system calls that a worker's filter delegates to the server: only a bounded number of threads is allowed.
///
/// The calling thread of the worker waits in the kernel for the decision. Used by one thread at a time.
@safe
final class Supervisor {
    let descriptor: CInt
    private let process: pid_t
    /// The number of threads that may start before the worker's threads are counted again.
    private var unusedGrants = 0
    private var granted = 0
    private var rejected = 0

    /// Twice the number observed for a HEIC file of many tiles.
    static let maximumThreads = 24
    /// The maximum number of threads started for one image; a large HEIC file uses two per tile.
    private static let maximumGrants = 10_000
    /// The maximum number of rejected threads; libraries give up much earlier.
    private static let maximumRejections = 64

    init(adopting descriptor: CInt, of process: pid_t) {
        self.descriptor = descriptor
        self.process = process
    }

    deinit {
        close(descriptor)
    }

    /// Resets the counts before the next image.
    func resetCounts() {
        granted = 0
        rejected = 0
    }

    func decideNextCall() -> String? {
        var call = CSeccompShimCall()
        // The calling process may have ended since.
        guard unsafe CSeccompShim_next_call(descriptor, &call) == 0 else { return nil }
        let isGranted = call.is_thread != 0 && mayStartThread()
        if call.is_thread == 0 || !isGranted && rejected >= Self.maximumRejections { return name(of: call) }
        if isGranted { granted += 1 } else { rejected += 1 }
        _ = unsafe CSeccompShim_answer(descriptor, &call, isGranted ? 1 : 0)
        return nil
    }

    private func mayStartThread() -> Bool {
        guard granted < Self.maximumGrants else { return false }
        if unusedGrants == 0 { unusedGrants = max(0, Self.maximumThreads - Int(CLinux_thread_count(process))) }
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
    enum Event {
        case message
        case none
        /// The worker is blocked in a forbidden system call that never returns.
        case forbidden(call: String)
    }

    /// Waits for an event, and decides on at most one system call.
    ///
    /// Returns `.none` on a timeout, and if a thread was granted or rejected.
    func event(_ supervisor: Supervisor?, milliseconds: CInt) -> Event {
        // The kernel always reports the end of the connection, whatever the requested events.
        var entries = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        if let supervisor { entries.append(pollfd(fd: supervisor.descriptor, events: Int16(POLLIN), revents: 0)) }
        guard unsafe poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return .none }
        if let supervisor, entries[1].revents & Int16(POLLIN) != 0, let call = supervisor.decideNextCall() {
            return .forbidden(call: call)
        }
        return entries[0].revents != 0 ? .message : .none
    }
}
