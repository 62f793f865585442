import Coordination
import Glibc
import Synchronization

/// A connection of a ``FakeOrigin``, used only by its own thread.
struct FakeConnection {
    /// The outcome of a step.
    enum Progress {
        case goOn
        /// Closed by the script.
        case closed
        /// Closed by the client, or because the origin stops.
        case clientLeft
    }

    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var isOn: CInt = 1
        unsafe setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The next request; nil if the client has closed the connection or does not speak HTTP.
    ///
    /// Pipelined requests are not supported.
    func readRequest() -> FakeOrigin.Request? {
        var head: [UInt8] = []
        var end: Int?
        while end == nil {
            guard let more = receive() else { return nil }
            let seen = max(0, head.count - 3)
            head += more
            guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(head[0]) else { return nil }
            end = (seen..<max(seen, head.count - 3)).first { head[$0..<$0 + 4].elementsEqual("\r\n\r\n".utf8) }
        }
        var body = Array(head[(end ?? 0) + 4..<head.count])
        head.removeSubrange((end ?? 0)...)
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
        let words = lines.first?.split(separator: " ").map(String.init) ?? []
        guard words.count == 3 else { return nil }
        let fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            let value = line.dropFirst(name.count + 1).drop { $0 == " " }
            return (name: String(name), value: String(value))
        }
        let length = fields.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        if length > body.count, fields.contains(where: { $0.name.lowercased() == "expect" }) {
            _ = send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...])
        }
        while body.count < length {
            guard let more = receive() else { return nil }
            body += more
        }
        return FakeOrigin.Request(method: words[0], target: words[1], fields: fields, body: body)
    }

    /// The next bytes; nil if the client has closed the connection.
    private func receive() -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            return count > 0 ? buffer[..<count] : nil
        }
    }

    /// Performs one step of a script.
    func take(_ step: FakeResponse.Step) -> Progress {
        switch step {
        case .send(let bytes): return send(bytes) ? .goOn : .clientLeft
        case .wait(let pause):
            let time = SystemTimekeeper()
            let end = time.now + pause
            return wait { time.now >= end } ? .goOn : .clientLeft
        case .hold(let gate):
            let isOpen = Flag()
            Task.detached {
                await gate.pass()
                isOpen.set()
            }
            return wait { isOpen.isSet } ? .goOn : .clientLeft
        case .waitForClose:
            _ = wait { false }
            return .clientLeft
        case .close: return .closed
        case .reset:
            var lingering = linger(l_onoff: 1, l_linger: 0)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
            return .closed
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count, let base = bytes.baseAddress {
                let count = unsafe Glibc.send(descriptor, base + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Waits for the condition; returns false if the client closes the connection first.
    private func wait(until isDone: () -> Bool) -> Bool {
        while !isDone() {
            var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&watched, 1, 2) > 0 {
                var byte: UInt8 = 0
                let count = unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
                if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return false }
            }
        }
        return true
    }
}

/// A flag that a task sets and a thread reads.
private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// Runs `body` on a new thread, which is not joined.
func startThread(_ body: @escaping @Sendable () -> Void) {
    do {
        try WorkThread(named: nil, body).detach()
    } catch {
        preconditionFailure("cannot start a thread: error \(error.systemError)")
    }
}
