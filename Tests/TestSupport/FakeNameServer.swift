import Coordination
import Glibc

/// A name server on a loopback address that follows a test's script.
///
/// It has one thread. Names without a script do not exist.
package final class FakeNameServer: Sendable {
    /// The result for a name.
    package enum Answer: Sendable {
        /// these IPv4 and IPv6 addresses with this time to live
        case addresses([String], secondsToLive: UInt8 = 0)
        /// `SERVFAIL`
        case failure
        /// no response
        case silence
    }

    fileprivate struct State: Sendable {
        var answers: [String: Answer] = [:]
        var laterAnswers: [String: Answer] = [:]
        var queries: [String] = []
    }

    /// The server's address, as `ADDRESS:PORT`.
    package let endpoint: String
    private let descriptor: CInt
    private let state: Watched<State>

    /// Listens on a free port.
    package init() throws(FakeOrigin.StartFailure) {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        unsafe inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &name) { name in
            unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                unsafe bind(descriptor, name, length) == 0 && getsockname(descriptor, name, &length) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            throw FakeOrigin.StartFailure(detail: "bind: error \(errno)")
        }
        let state = Watched(State())
        endpoint = "127.0.0.1:\(in_port_t(bigEndian: name.sin_port))"
        self.descriptor = descriptor
        self.state = state
        startThread { answerQueries(descriptor, state) }
    }

    deinit {
        shutdown(descriptor, CInt(SHUT_RDWR))
    }

    /// Sets the answer to queries for this name, which is in lower case.
    package func serve(_ name: String, _ answer: Answer) {
        state.withLock { $0.answers[name] = answer }
    }

    /// Sets the answer to the first A and AAAA queries for this name, and the answer to later ones.
    package func serve(_ name: String, _ first: Answer, then later: Answer) {
        state.withLock { state in
            state.answers[name] = first
            state.laterAnswers[name] = later
        }
    }

    /// Names queried so far, once for each record type.
    package var queries: [String] { state.withLock { $0.queries } }

    /// Waits for a query for a name that begins with `prefix`.
    package func query(for prefix: String = "") async {
        await state.reached { $0.queries.contains { $0.hasPrefix(prefix) } }
    }
}

/// Runs on the server's thread until the socket is shut down, then closes it.
private func answerQueries(_ descriptor: CInt, _ state: Watched<FakeNameServer.State>) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        var client = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let count = unsafe withUnsafeMutablePointer(to: &client) { client in
            unsafe client.withMemoryRebound(to: sockaddr.self, capacity: 1) { client in
                unsafe recvfrom(descriptor, &buffer, buffer.count, 0, client, &length)
            }
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { break }
        guard let reply = reply(to: Array(buffer[..<count]), state) else { continue }
        _ = unsafe withUnsafePointer(to: &client) { client in
            unsafe client.withMemoryRebound(to: sockaddr.self, capacity: 1) { client in
                unsafe sendto(descriptor, reply, reply.count, 0, client, length)
            }
        }
    }
    close(descriptor)
}

/// The reply to a query with one question (RFC 1035 section 4); nil to send none.
private func reply(to query: [UInt8], _ state: Watched<FakeNameServer.State>) -> [UInt8]? {
    var labels: [String] = []
    var index = 12
    while index < query.count, query[index] != 0 {
        let end = index + 1 + Int(query[index])
        guard end < query.count else { return nil }
        labels.append(String(decoding: query[(index + 1)..<end], as: UTF8.self).lowercased())
        index = end
    }
    guard index + 4 < query.count else { return nil }
    let question = query[12...(index + 4)]
    let type = query[index + 2]
    let name = labels.joined(separator: ".")
    let answer = state.withLock { state in
        let isLater = state.queries.count { $0 == name } >= 2
        state.queries.append(name)
        return isLater ? state.laterAnswers[name] ?? state.answers[name] : state.answers[name]
    }
    var code: UInt8 = 0
    var records: [[UInt8]] = []
    switch answer {
    case .silence: return nil
    case .failure: code = 2
    case nil: code = 3
    case .addresses(let texts, let secondsToLive):
        for text in texts {
            guard let bytes = bytes(of: text), (type == 1) == (bytes.count == 4), type == 1 || type == 28 else {
                continue
            }
            records.append([0xc0, 12, 0, type, 0, 1, 0, 0, 0, secondsToLive, 0, UInt8(bytes.count)] + bytes)
        }
    }
    return query[..<2] + [0x81, 0x80 | code, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0] + question
        + records.flatMap { $0 }
}

private func bytes(of address: String) -> [UInt8]? {
    var four = [UInt8](repeating: 0, count: 4)
    if unsafe inet_pton(AF_INET, address, &four) == 1 { return four }
    var sixteen = [UInt8](repeating: 0, count: 16)
    return unsafe inet_pton(AF_INET6, address, &sixteen) == 1 ? sixteen : nil
}
