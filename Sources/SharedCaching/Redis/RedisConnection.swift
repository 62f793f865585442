import Coordination
import Glibc
import Memory

/// A connection with pipelined commands, whose replies arrive in order; used by one thread.
final class RedisConnection {
    enum Outcome {
        case replies([Reply])
        case timeout
        /// The reply is invalid or too long; the connection has ended.
        case unreadable
        case closed
    }

    enum Piece {
        case bytes([UInt8])
        case shared(SharedBytes)
    }

    private struct Pending {
        let replyCount: Int
        var replies: [Reply] = []
        let sentAt: Duration
        let deadline: Duration?
        var isAbandoned = false
        let finish: (Outcome) -> Void
    }

    private let greeting: RedisCommand
    private let maximumReplyBytes: Int
    private var socket: RedisSocket?
    private var reader: ReplyReader?
    private var pending = Deque<Pending>()
    private var pieces = Deque<Piece>()
    private var staged: [UInt8] = []
    private var stagedCount = 0
    private(set) var nextDeadline: Duration?
    private(set) var hasMoreToRead = false
    var onMessage: ((Reply) -> Void)?
    private(set) var rejection: String?

    /// Limits the reads per turn, because other connections of the thread have timeouts of milliseconds.
    private static let readsInTurn = 16
    private static let stagedBytes = 256 << 10

    init(greeting: RedisCommand, maximumReplyBytes: Int) {
        self.greeting = greeting
        self.maximumReplyBytes = maximumReplyBytes
    }

    var isClosed: Bool { socket == nil }
    var pendingCount: Int { pending.count }
    var oldestSentAt: Duration? { pending.first?.sentAt }
    var descriptor: CInt { socket?.descriptor ?? -1 }

    /// The events to wait for: poll's `POLLIN` and `POLLOUT`.
    var events: Int16 {
        guard let socket else { return 0 }
        guard socket.isOpen else { return Int16(socket.isWriteBlocked ? POLLOUT : POLLIN) }
        return Int16(socket.isWriteBlocked ? POLLIN | POLLOUT : POLLIN)
    }

    /// Starts to connect; returns false if that fails immediately.
    func open(_ address: ServerAddress, tls: RedisTLS?, host: String, at now: Duration) -> Bool {
        guard let socket = RedisSocket(to: address, tls: tls, host: host),
            let reader = ReplyReader(maximumBytes: maximumReplyBytes)
        else { return false }
        self.socket = socket
        self.reader = reader
        rejection = nil
        if greeting.replyCount > 0 {
            send(greeting, at: now) { [weak self] outcome in
                guard case .replies(let replies) = outcome, let failure = replies.compactMap(\.failure).first else {
                    return
                }
                self?.fail(failure)
            }
        }
        return true
    }

    func send(
        _ command: RedisCommand, body: SharedBytes? = nil, after: [UInt8] = [], replyCount: Int? = nil,
        at now: Duration, deadline: Duration? = nil, _ finish: @escaping (Outcome) -> Void
    ) {
        guard socket != nil else { return finish(.closed) }
        pieces.append(.bytes(command.bytes))
        if let body { pieces.append(.shared(body)) }
        if !after.isEmpty { pieces.append(.bytes(after)) }
        pending.append(
            Pending(replyCount: replyCount ?? command.replyCount, sentAt: now, deadline: deadline, finish: finish))
        if let deadline { nextDeadline = min(deadline, nextDeadline ?? deadline) }
    }

    func fail(_ text: String) {
        rejection = text
        close()
    }

    func close() { close(.closed) }

    private func close(_ outcome: Outcome) {
        let unanswered = pending.elements
        socket = nil
        reader = nil
        pending = Deque()
        pieces = Deque()
        staged = []
        stagedCount = 0
        nextDeadline = nil
        hasMoreToRead = false
        for (index, entry) in unanswered.enumerated() where !entry.isAbandoned {
            entry.finish(index == 0 ? outcome : .closed)
        }
    }

    func flush() {
        guard let socket else { return }
        if !socket.isOpen {
            switch socket.advance() {
            case .moved: break
            case .blocked: return
            case .closed: return close()
            }
        }
        while true {
            if stagedCount == staged.count { stage() }
            guard stagedCount < staged.count else { return }
            let progress = unsafe staged.withUnsafeBytes { bytes in
                unsafe socket.send(UnsafeRawBufferPointer(rebasing: bytes[stagedCount...]))
            }
            switch progress {
            case .moved(let count): stagedCount += count
            case .blocked: return
            case .closed: return close()
            }
        }
    }

    /// Reads available input; long input is read in several turns.
    func receive(into buffer: UnsafeMutableRawBufferPointer) {
        hasMoreToRead = false
        guard let socket, let reader else { return }
        guard socket.isOpen else { return flush() }
        for _ in 0..<Self.readsInTurn {
            switch unsafe socket.receive(buffer) {
            case .blocked: return
            case .closed: return close()
            case .moved(let count):
                do throws(ReplyReader.ProtocolViolation) {
                    try unsafe reader.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    while self.reader === reader, let reply = try reader.next() { take(reply) }
                } catch {
                    close(.unreadable)
                }
                guard self.reader === reader, socket.mayHoldMore(after: count, of: buffer.count) else { return }
            }
        }
        // libssl may have buffered bytes that the system does not report.
        hasMoreToRead = true
    }

    func expire(at now: Duration) {
        guard let next = nextDeadline, next <= now else { return }
        nextDeadline = nil
        var expired: [(Outcome) -> Void] = []
        var unsent = Deque<Pending>()
        for var entry in pending.elements {
            if let deadline = entry.deadline, !entry.isAbandoned {
                if deadline <= now {
                    entry.isAbandoned = true
                    expired.append(entry.finish)
                } else {
                    nextDeadline = min(deadline, nextDeadline ?? deadline)
                }
            }
            unsent.append(entry)
        }
        pending = unsent
        for finish in expired { finish(.timeout) }
    }

    private func take(_ reply: Reply) {
        if let onMessage, pending.isEmpty { return onMessage(reply) }
        guard var entry = pending.popFirst() else { return close() }
        entry.replies.append(reply)
        if entry.replies.count < entry.replyCount { return pending.prepend(entry) }
        if !entry.isAbandoned { entry.finish(.replies(entry.replies)) }
    }

    private func stage() {
        staged.removeAll(keepingCapacity: staged.capacity <= Self.stagedBytes)
        stagedCount = 0
        while let piece = pieces.first {
            let count =
                switch piece {
                case .bytes(let bytes): bytes.count
                case .shared(let bytes): bytes.count
                }
            guard staged.isEmpty || staged.count + count <= Self.stagedBytes else { return }
            _ = pieces.popFirst()
            switch piece {
            case .bytes(let bytes): staged += bytes
            case .shared(let bytes): unsafe bytes.withUnsafeBytes { unsafe staged.append(contentsOf: $0) }
            }
        }
    }
}
