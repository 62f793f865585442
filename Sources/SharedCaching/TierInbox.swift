import Coordination
import Glibc
import Memory

/// A read with a waiting caller.
struct TierRead: Sendable {
    enum Answer: Sendable {
        /// The values of the last command, nil for missing ones.
        case values([SharedBytes?])
        case timeout
        /// The server rejected it, or the connection ended.
        case failed
    }

    let command: TierCommand
    let deadline: Duration
    /// Called once, on any thread; must not block.
    let finish: @Sendable (Answer) -> Void
}

/// A write without a waiting caller.
struct TierWrite: Sendable {
    /// The command up to the value.
    let command: TierCommand
    let body: SharedBytes
    /// The bytes after the value.
    let after: [UInt8]
    /// The number of replies to all of it; the first is for the write.
    let replyCount: Int
    /// The size counted by the queue, in bytes.
    let length: Int
    /// Whether it records a source under a tag.
    var isNote = false
}

/// Requests from other threads to the `shared-cache` thread, and its state for them.
final class TierInbox: Sendable {
    enum Request: Sendable {
        case read(TierRead)
        case write(TierWrite)
        case remove(DueRemovals.Removal, answer: OneTimeResult<RemovalState>?)
        /// Read the log of purges now.
        case readLog(OneTimeResult<Bool>)
        case addresses([ServerAddress])
    }

    private struct State {
        var requests: [Request] = []
        var statistics = SharedStoreStatistics()
        var isUp = false
        var reads = 0
        var isWoken = false
        /// The deadline of the thread; nil until it is stopped.
        var end: Duration?
    }

    /// The maximum number of concurrent reads; more are not tried.
    private static let maximumReads = 4_096
    /// The maximum size of queued records of tags in bytes.
    private static let maximumNoteBytes = 4 << 20

    private let state = Locked(State())
    /// Completed when the thread ends.
    let ended = OneTimeResult<Bool>()
    private let maximumQueueBytes: Int
    private let readEnd: CInt
    private let writeEnd: CInt

    init(_ configuration: SharedCacheConfiguration) throws(SharedStore.Failure) {
        maximumQueueBytes = configuration.maximumQueueBytes
        var ends: [CInt] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .system(error: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Readable when there are requests.
    var descriptor: CInt { readEnd }

    var isUp: Bool { state.withLock { $0.isUp } }

    var statistics: SharedStoreStatistics { state.withLock { $0.statistics } }

    /// Registers a read, if the server is in use and there is room; ended with ``endRead()``.
    func admitRead() -> Bool {
        state.withLock { state in
            guard state.isUp, state.reads < Self.maximumReads else { return false }
            state.reads += 1
            return true
        }
    }

    func endRead() { state.withLock { $0.reads -= 1 } }

    func count(_ result: SharedStoreStatistics.Result) {
        state.withLock { $0.statistics.requests[result, default: 0] += 1 }
    }

    /// Reserves room in the queue for a write, or counts it as dropped.
    func admitWrite(_ length: Int) -> Bool {
        state.withLock { state in
            guard state.isUp, state.statistics.queueBytes + length <= maximumQueueBytes else {
                state.statistics.droppedWrites += 1
                return false
            }
            state.statistics.queueBytes += length
            return true
        }
    }

    /// Reserves room for a record of a tag, which takes no room from writes.
    func admitNote(_ length: Int) -> Bool {
        state.withLock { state in
            guard state.isUp, state.statistics.noteBytes + length <= Self.maximumNoteBytes else {
                state.statistics.droppedNotes += 1
                return false
            }
            state.statistics.noteBytes += length
            return true
        }
    }

    /// Ends a write or a record of a tag, whatever its result.
    func end(_ write: TierWrite, isDone: Bool) {
        state.withLock { state in
            if write.isNote {
                state.statistics.noteBytes -= write.length
                if isDone { state.statistics.notes += 1 } else { state.statistics.droppedNotes += 1 }
            } else {
                state.statistics.queueBytes -= write.length
                if isDone { state.statistics.writes += 1 } else { state.statistics.droppedWrites += 1 }
            }
        }
    }

    func show(_ health: TierHealth.State, isFull: Bool) {
        state.withLock { state in
            state.isUp = health == .up
            state.statistics.show(health, isFull: isFull)
        }
    }

    /// Queues a request for the thread.
    func post(_ request: Request) {
        let isStopped = state.withLock { state in
            // The thread may need the server's addresses for its last removals.
            if case .addresses = request {} else if state.end != nil { return true }
            state.requests.append(request)
            return false
        }
        if isStopped { Self.refuse(request) } else { wake() }
    }

    /// Stops the thread by this deadline.
    func stop(by end: Duration) {
        state.withLock { $0.end = end }
        wake()
    }

    /// Returns the requests since the last call, and the thread's deadline if it is stopped.
    func take() -> (requests: [Request], end: Duration?) {
        state.withLock { state in
            defer {
                state.requests = []
                state.isWoken = false
            }
            return (state.requests, state.end)
        }
    }

    /// Empties the pipe, before ``take()``.
    func drain() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(readEnd, &bytes, bytes.count) == bytes.count {}
    }

    static func refuse(_ request: Request) {
        switch request {
        case .read(let read): read.finish(.failed)
        case .remove(_, let answer): answer?.give(.refused)
        case .readLog(let answer): answer.give(false)
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
