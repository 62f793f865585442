import CLinux
import Coordination
import Glibc
import Synchronization

/// Events of the thread `http-watch`: clients of suspended connections that leave, and orders.
///
/// Event threads register a connection once per promised answer; ordinary requests never come here.
final class ConnectionWatch: Sendable {
    /// Orders for the thread besides watching.
    struct Orders {
        /// Close connections that are idle, now and from now on.
        var isDraining = false
        /// End by this time, even with requests under way.
        var stopDeadline: Duration?
        /// Called before requests under way are cut.
        var willCut: @Sendable () -> Void = {}
    }

    private struct State {
        var orders = Orders()
        var waiters: [CheckedContinuation<Bool, Never>] = []
        var outcome: Bool?
    }

    private static let wakeTicket: UInt64 = 0

    private let epoll: CInt
    /// The reading end of the pipe that wakes the thread.
    let wakeReader: CInt
    private let wakeWriter: CInt
    private let nextTicket = Atomic<UInt64>(1)
    private let suspended = Locked<[UInt64: any OpenConnection]>([:])
    private let state = Locked(State())

    /// A watch without connections.
    init() throws(HTTPServerError) {
        epoll = CLinux_epoll_create()
        var ends: [CInt] = [-1, -1]
        let status = unsafe ends.withUnsafeMutableBufferPointer { unsafe pipe($0.baseAddress) }
        wakeReader = ends[0]
        wakeWriter = ends[1]
        guard epoll >= 0, status == 0, CLinux_epoll_watch_readable(epoll, wakeReader, Self.wakeTicket) == 0 else {
            // `deinit` closes the descriptors that were made.
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

    /// A number for one promise, unique in this server.
    func makeTicket() -> UInt64 {
        nextTicket.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    /// From now on the promise is abandoned when the client leaves; event thread, the descriptor is open.
    func watchHangup(of connection: any OpenConnection, descriptor: CInt, ticket: UInt64) {
        suspended.withLock { $0[ticket] = connection }
        CLinux_epoll_watch_hangup(epoll, descriptor, ticket)
    }

    /// The promise is kept or abandoned; event thread, the descriptor is still open.
    func forgetHangup(descriptor: CInt, ticket: UInt64) {
        CLinux_epoll_forget(epoll, descriptor)
        _ = suspended.withLock { $0.removeValue(forKey: ticket) }
    }

    /// Changes the orders with `change` and wakes the watch thread; any thread.
    func order(_ change: (inout Orders) -> Void) {
        state.withLock { change(&$0.orders) }
        var byte: UInt8 = 1
        _ = unsafe write(wakeWriter, &byte, 1)
    }

    /// Waits for the end of the watch thread; true if no request was cut.
    func end() async -> Bool {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiters.append(continuation) }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// The orders at this moment.
    var orders: Orders { state.withLock { $0.orders } }

    /// Waits up to `limit` for clients to leave, or for an order, and abandons the promises of clients that left;
    /// watch thread.
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

    /// Resumes the tasks that wait for the end.
    func finish(isComplete: Bool) {
        let waiters = state.withLock { state in
            state.outcome = isComplete
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: isComplete) }
    }
}

/// When a connection's current header began, estimated by checking its byte counts at intervals.
struct UnfinishedHeader {
    /// Nil while no header has begun.
    private(set) var since: Duration?
    private var afterBytes = 0

    /// Checks once; true when the same header has been unfinished for at least `limit`.
    ///
    /// - Parameters:
    ///   - pendingBytes: Received, but not part of a complete header.
    ///   - afterBytes: Size of all earlier complete headers: distinguishes one unfinished header from the next.
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
