import Coordination
import Glibc

/// An HTTP proxy on a loopback address that supports only CONNECT.
package final class FakeProxy: Sendable {
    package let port: Int
    private let listener: CInt
    private let heads = Locked<[String]>([])

    /// - Parameter ports: Maps each `HOST:PORT` to a local port, or to the status that rejects the tunnel.
    package init(
        leadingTo ports: @escaping @Sendable (_ target: String) -> Result<Int, FakeProxyRefusal>
    ) throws(FakeOrigin.StartFailure) {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard let port = listenOnLoopback(listener) else {
            close(listener)
            throw FakeOrigin.StartFailure(detail: "bind or listen: error \(errno)")
        }
        (self.port, self.listener) = (port, listener)
        let heads = heads
        acceptEach(on: listener) { client in
            guard let head = readHead(of: client) else { return }
            heads.withLock { $0.append(head) }
            let words = head.split(separator: " ")
            guard words.count > 2, words[0] == "CONNECT" else { return reply(client, "400 Bad Request") }
            switch ports(String(words[1])) {
            case .failure(let refusal): reply(client, "\(refusal.status) Refused")
            case .success(let port):
                let upstream = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                defer { close(upstream) }
                guard connectToLoopback(upstream, port: port) else { return reply(client, "502 Bad Gateway") }
                reply(client, "200 Connection established")
                carry(client, upstream)
            }
        }
    }

    deinit {
        shutdown(listener, CInt(SHUT_RDWR))
    }

    /// Headers of the requests so far.
    package var requests: [String] { heads.withLock { $0 } }

    /// Targets of the requests so far.
    package var targets: [String] {
        requests.map { head in head.split(separator: " ").dropFirst().first.map(String.init) ?? "" }
    }

    package var url: String { "http://127.0.0.1:\(port)" }
}

/// The status of a rejected tunnel.
package struct FakeProxyRefusal: Error {
    let status: Int

    package init(_ status: Int) { self.status = status }
}

private func readHead(of client: CInt) -> String? {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
        guard head.count < 16 << 10, unsafe recv(client, &byte, 1, 0) == 1 else { return nil }
        head.append(byte)
    }
    return String(decoding: head, as: UTF8.self)
}

private func reply(_ client: CInt, _ status: String) {
    let bytes = Array("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n".utf8)
    // The response to CONNECT has no length (RFC 9110 section 9.3.6).
    let answer = status.hasPrefix("2") ? Array("HTTP/1.1 \(status)\r\n\r\n".utf8) : bytes
    _ = unsafe send(client, answer, answer.count, CInt(MSG_NOSIGNAL))
}

/// Copies bytes in both directions until either side closes.
private func carry(_ client: CInt, _ upstream: CInt) {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
        var watched = [client, upstream].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        if unsafe poll(&watched, 2, -1) < 0, errno != EINTR { return }
        for (index, other) in [upstream, client].enumerated() where watched[index].revents != 0 {
            let count = unsafe recv(watched[index].fd, &buffer, buffer.count, 0)
            guard count > 0, unsafe send(other, buffer, count, CInt(MSG_NOSIGNAL)) == count else { return }
        }
    }
}
