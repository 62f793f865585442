import Glibc
import Testing

@testable import HTTPServing

/// Lifetime and number of sockets that remain open after their connections.
@Suite struct LingeringSocketsTests {
    @Test func `a socket lingers until its client closes`() {
        let sockets = LingeringSockets()
        let pair = SocketPair()
        let isKept = sockets.add(copyOf: pair.server, at: .zero)
        #expect(isKept)
        pair.closeServer()
        #expect(sockets.drain(at: .zero))
        #expect(pair.send(1_000))
        #expect(sockets.drain(at: .milliseconds(1_999)))
        pair.closeClient()
        #expect(!sockets.drain(at: .milliseconds(1_999)))
    }

    @Test func `a socket lingers for two seconds and takes one mebibyte at most`() {
        let sockets = LingeringSockets()
        let late = SocketPair()
        _ = sockets.add(copyOf: late.server, at: .zero)
        late.closeServer()
        #expect(!sockets.drain(at: .seconds(2)))
        #expect(!late.send(1))

        let talkative = SocketPair()
        _ = sockets.add(copyOf: talkative.server, at: .zero)
        talkative.closeServer()
        var sent = 0
        while sockets.drain(at: .zero), sent < 4 << 20 {
            if talkative.send(16 << 10) { sent += 16 << 10 }
        }
        #expect(sent == 1 << 20)
    }

    @Test func `at most thirty-two sockets linger at once`() {
        let sockets = LingeringSockets()
        let pairs = (0..<33).map { _ in SocketPair() }
        let resumed = pairs.filter { sockets.add(copyOf: $0.server, at: .zero) }.count
        #expect(resumed == 32)
        sockets.closeAll()
        let isKept = sockets.add(copyOf: pairs[32].server, at: .zero)
        #expect(isKept)
        sockets.closeAll()
        extendLifetime(pairs)
    }
}

/// Two connected sockets.
private final class SocketPair {
    private(set) var server: CInt
    private var client: CInt

    init() {
        var ends: [CInt] = [-1, -1]
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let status = unsafe ends.withUnsafeMutableBufferPointer { unsafe socketpair(AF_UNIX, type, 0, $0.baseAddress) }
        precondition(status == 0, "no sockets: error \(errno)")
        server = ends[0]
        client = ends[1]
    }

    deinit {
        closeServer()
        closeClient()
    }

    /// Sends bytes from the client; returns false if the other side is closed.
    func send(_ count: Int) -> Bool {
        let bytes = [UInt8](repeating: 1, count: count)
        return unsafe Glibc.send(client, bytes, count, CInt(MSG_NOSIGNAL)) == count
    }

    func closeServer() {
        if server >= 0 { close(server) }
        server = -1
    }

    func closeClient() {
        if client >= 0 { close(client) }
        client = -1
    }
}
