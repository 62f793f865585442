import Coordination
import Glibc
import Memory

struct RedisRead: Sendable {
    let command: RedisCommand
    let deadline: Duration
    /// Receives the values of the last command; called once, on any thread, must not block.
    let completion: @Sendable (StoreReadResult) -> Void
}

struct RedisWrite: Sendable {
    let command: RedisCommand
    var body: SharedBytes?
    var after: [UInt8] = []
    /// The number of replies; the first is for the write.
    let replyCount: Int
    /// The length in bytes, as counted by the queue.
    let length: Int
    var queue = SharedStoreStatistics.Queue.values
}

/// Passes work from other threads to the `shared-cache` thread.
final class RedisInbox: Sendable {
    enum Request: Sendable {
        case read(RedisRead)
        case write(RedisWrite)
        case remove(PendingRemovals.Removal, fulfilling: Promise<RemovalState>?)
        case readLog(fulfilling: Promise<Bool>)
        case addresses([ServerAddress])
    }

    private struct State {
        var requests: [Request] = []
        var isWoken = false
        var end: Duration?
    }

    private let state = Locked(State())
    let ended = Promise<Bool>()
    private let readEnd: CInt
    private let writeEnd: CInt

    init() throws(SharedStoreFailure) {
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .system(error: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    var descriptor: CInt { readEnd }

    func post(_ request: Request) {
        let isShutDown = state.withLock { state in
            // Resolved addresses are accepted even during a shutdown, for the last removals.
            if case .addresses = request {} else if state.end != nil { return true }
            state.requests.append(request)
            return false
        }
        if isShutDown { Self.fail(request) } else { wake() }
    }

    func shutDown(by end: Duration) {
        state.withLock { $0.end = end }
        wake()
    }

    func take() -> (requests: [Request], end: Duration?) {
        state.withLock { state in
            defer {
                state.requests = []
                state.isWoken = false
            }
            return (state.requests, state.end)
        }
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(readEnd, &bytes, bytes.count) == bytes.count {}
    }

    static func fail(_ request: Request) {
        switch request {
        case .read(let read): read.completion(.failed())
        case .remove(_, let promise): promise?.fulfill(.rejected)
        case .readLog(let promise): promise.fulfill(false)
        case .write, .addresses: break
        }
    }

    private func wake() {
        let isNeeded = state.withLock { state in
            defer { state.isWoken = true }
            return !state.isWoken
        }
        guard isNeeded else { return }
        var byte: UInt8 = 1
        _ = unsafe write(writeEnd, &byte, 1)
    }
}
