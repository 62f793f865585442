import CLinux
import Coordination
import Glibc
import Synchronization

/// Watches suspended connections for disconnects, and passes commands to the `http-watch` thread.
///
/// Event threads register a connection once per deferred response; ordinary requests do not use this.
final class ConnectionWatch: Sendable {
    struct Commands {
        var isDraining = false
        var stopDeadline: Duration?
        var willAbort: @Sendable () -> Void = {}
    }

    private struct State {
        var commands = Commands()
        var waiters: [CheckedContinuation<Bool, Never>] = []
        var outcome: Bool?
    }

    private static let wakeTicket: UInt64 = 0

    private let epoll: CInt
    let wakeReader: CInt
    private let wakeWriter: CInt
    private let nextTicket = Atomic<UInt64>(1)
    private let suspended = Locked<[UInt64: any OpenConnection]>([:])
    private let state = Locked(State())

    init() throws(HTTPServerError) {
        epoll = CLinux_epoll_create()
        var ends: [CInt] = [-1, -1]
        let status = unsafe ends.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress) }
        wakeReader = ends[0]
        wakeWriter = ends[1]
        guard epoll >= 0, status == 0, CLinux_epoll_watch_readable(epoll, wakeReader, Self.wakeTicket) == 0 else {
            // `deinit` closes the descriptors already opened.
            throw .cannotStart(systemError: errno)
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        for descriptor in [epoll, wakeReader, wakeWriter] where descriptor >= 0 { close(descriptor) }
    }

    /// Returns a ticket that is unique in this server.
    func makeTicket() -> UInt64 { nextTicket.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Watches for the client's disconnection; event thread only, while the descriptor is open.
    func watchHangup(of connection: any OpenConnection, descriptor: CInt, ticket: UInt64) {
        suspended.withLock { $0[ticket] = connection }
        CLinux_epoll_watch_hangup(epoll, descriptor, ticket)
    }

    /// Ends the watch when the response is ready or abandoned; event thread only, while the descriptor is open.
    func forgetHangup(descriptor: CInt, ticket: UInt64) {
        CLinux_epoll_forget(epoll, descriptor)
        _ = suspended.withLock { $0.removeValue(forKey: ticket) }
    }

    /// Wakes the watch thread; safe on any thread.
    func update(_ change: (inout Commands) -> Void) {
        state.withLock { change(&$0.commands) }
        var byte: UInt8 = 1
        _ = unsafe write(wakeWriter, &byte, 1)
    }

    func end() async -> Bool {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiters.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    var commands: Commands { state.withLock { $0.commands } }

    /// Waits for disconnecting clients or a command, and abandons the responses of clients that left; watch thread
    /// only.
    func wait(atMost limit: Duration) {
        let milliseconds = CInt(max(0, limit.milliseconds.rounded(.up)))
        var tickets = [UInt64](repeating: 0, count: 64)
        let count = unsafe tickets.withUnsafeMutableBufferPointer {
            unsafe CLinux_epoll_wait(epoll, $0.baseAddress, CInt($0.count), milliseconds)
        }
        for ticket in tickets.prefix(Int(max(0, count))) {
            if ticket == Self.wakeTicket {
                var bytes: UInt64 = 0
                while unsafe read(wakeReader, &bytes, MemoryLayout<UInt64>.size) > 0 {}
            } else {
                suspended.withLock { $0[ticket] }?.abandon(ticket: ticket)
            }
        }
    }

    func finish(isComplete: Bool) {
        let waiters = state.withLock { state in
            state.outcome = isComplete
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: isComplete) }
    }
}

/// Detects an unfinished header from a connection's byte counts at intervals.
struct UnfinishedHeader {
    private(set) var since: Duration?
    private var afterBytes = 0

    /// Whether a header has been incomplete for at least `limit`.
    ///
    /// - Parameters:
    ///   - pendingBytes: The bytes received after the last complete header.
    ///   - afterBytes: The size of all earlier headers, which identifies the incomplete one.
    mutating func isOverdue(pendingBytes: Int, afterBytes: Int, at now: Duration, limit: Duration) -> Bool {
        guard pendingBytes > 0 else {
            since = nil
            return false
        }
        guard let since, self.afterBytes == afterBytes else {
            self.since = now
            self.afterBytes = afterBytes
            return false
        }
        return now - since >= limit
    }
}
