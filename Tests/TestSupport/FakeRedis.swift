import Coordination
import Glibc

/// A Redis server on a loopback address with the commands that the shared cache sends, and with faults.
///
/// One thread accepts connections, and one serves each.
package final class FakeRedis: Sendable {
    package enum Fault: Sendable {
        /// replies wait at a gate
        case held(ThreadGate)
        /// one bit of every returned value is flipped
        case lying
        /// every returned value is the last one that was written
        case mixing
        /// writes fail
        case full
        /// replies are not valid Redis protocol
        case babbling
        /// every returned value is a line without an end
        case endless
    }

    private struct State: Sendable {
        var values: [[UInt8]: [UInt8]] = [:]
        var sets: [[UInt8]: Set<[UInt8]>] = [:]
        var log: [(id: Int, payload: [UInt8])] = []
        var lastID = 0
        /// Whether the log rejects entries because its last ID is the highest one.
        var isExhausted = false
        var lastWritten: [UInt8] = []
        var password: String?
        var fault: Fault?
        var connections: [CInt: Bool] = [:]
        var commands: [[String]] = []
        var listener: CInt = -1
    }

    package let port: Int
    private let state = Watched(State())

    /// Listens on a free port; `password` is required from clients.
    package init(password: String? = nil) throws(FakeOrigin.StartFailure) {
        let (listener, port) = try Self.listen(port: 0)
        self.port = port
        state.withLock { state in
            state.password = password
            state.listener = listener
        }
        accept(listener)
    }

    deinit { stop() }

    package var url: String { "redis://127.0.0.1:\(port)/0" }

    /// Sets the server's fault; nil for none.
    package func fail(_ fault: Fault?) { state.withLock { $0.fault = fault } }

    /// Deletes all sets, like a server that evicts keys.
    package func forgetSets() { state.withLock { $0.sets = [:] } }

    /// Adds an entry to the log as if another client had written it.
    ///
    /// - Parameter isLast: Whether the entry gets the highest possible ID.
    package func append(_ payload: [UInt8], isLast: Bool = false) {
        state.withLock { state in
            if !isLast { state.lastID += 1 }
            state.log.append((isLast ? .max : state.lastID, payload))
            state.isExhausted = isLast
        }
    }

    package func add(_ members: [[UInt8]], toSetsUnder prefix: String) {
        state.withLock { state in
            for key in state.sets.keys where key.starts(with: prefix.utf8) {
                state.sets[key]?.formUnion(members)
            }
        }
    }

    /// Replaces each set under a key that begins with `prefix` by a string.
    package func coverSets(under prefix: String) {
        state.withLock { state in
            for key in state.sets.keys where key.starts(with: prefix.utf8) {
                state.sets[key] = nil
                state.values[key] = Array("x".utf8)
            }
        }
    }

    package func members(under prefix: String) -> [[UInt8]] {
        state.withLock { state in state.sets.filter { $0.key.starts(with: prefix.utf8) }.values.flatMap(\.self) }
    }

    /// Closes all connections; accepts new ones.
    package func cut() {
        let open = state.withLock { state in Array(state.connections.keys) }
        for descriptor in open { shutdown(descriptor, CInt(SHUT_RDWR)) }
    }

    /// Closes all connections and the listener.
    package func stop() {
        let listener = state.withLock { state in
            defer { state.listener = -1 }
            return state.listener
        }
        if listener >= 0 { shutdown(listener, CInt(SHUT_RDWR)) }
        cut()
    }

    /// Listens again.
    ///
    /// - Parameter isEmpty: Whether all data is lost.
    package func restart(isEmpty: Bool = true) throws(FakeOrigin.StartFailure) {
        let (listener, _) = try Self.listen(port: port)
        state.withLock { state in
            state.listener = listener
            if isEmpty { (state.values, state.log, state.sets) = ([:], [], [:]) }
        }
        accept(listener)
    }

    package var keys: [String] {
        state.withLock { $0.values.keys.map { String(decoding: $0, as: UTF8.self) } }.sorted()
    }

    /// ID of the last log entry, as in replies.
    package var lastEntry: String { state.withLock { "\($0.log.last?.id ?? 0)-0" } }

    /// The commands so far, without large values.
    package var commands: [[String]] { state.withLock { $0.commands } }

    /// Waits for `count` commands of this name.
    package func commands(_ name: String, _ count: Int = 1) async {
        await state.reached { $0.commands.count { $0[0] == name } >= count }
    }

    /// Waits until `count` keys begin with `prefix`.
    package func keys(_ prefix: String, _ count: Int) async {
        await state.reached { $0.values.keys.count { $0.starts(with: prefix.utf8) } == count }
    }

    /// Number of open connections.
    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Stores a value as if another client had written it.
    package func put(_ key: String, _ value: String) {
        state.withLock { $0.values[Array(key.utf8)] = Array(value.utf8) }
    }

    /// Replaces the values of all keys that begin with `prefix`.
    package func rewrite(_ prefix: String, _ change: ([UInt8]) -> [UInt8]) {
        state.withLock { state in
            for key in state.values.keys where key.starts(with: prefix.utf8) {
                state.values[key] = state.values[key].map(change)
            }
        }
    }

    private static func listen(port: Int) throws(FakeOrigin.StartFailure) -> (CInt, Int) {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var isOn: CInt = 1
        unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = in_port_t(port).bigEndian
        name.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &name) { name in
            unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                unsafe bind(listener, name, length) == 0 && Glibc.listen(listener, 64) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        guard isListening else {
            close(listener)
            throw FakeOrigin.StartFailure(detail: "bind or listen: error \(errno)")
        }
        return (listener, Int(in_port_t(bigEndian: name.sin_port)))
    }

    private func accept(_ listener: CInt) {
        startThread { [weak self] in
            while true {
                let client = Glibc.accept(listener, nil, nil)
                if client < 0 && (errno == EINTR || errno == ECONNABORTED) { continue }
                guard client >= 0, let self else { break }
                // Without this, the second of several replies would wait until the first is acknowledged.
                var isOn: CInt = 1
                unsafe setsockopt(client, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
                state.withLock { $0.connections[client] = false }
                startThread { [weak self] in
                    self?.serve(client)
                    self?.state.withLock { _ = $0.connections.removeValue(forKey: client) }
                    close(client)
                }
            }
            close(listener)
        }
    }

    private func serve(_ client: CInt) {
        var reader = CommandReader(descriptor: client)
        var isAdmitted = state.withLock { $0.password == nil }
        while let words = reader.next() {
            guard let name = words.first.map({ String(decoding: $0, as: UTF8.self) }) else { return }
            let fault = state.withLock { state in
                state.commands.append(words.prefix(12).map { String(decoding: $0.prefix(200), as: UTF8.self) })
                return state.fault
            }
            if case .held(let gate)? = fault { gate.pass() }
            if case .babbling? = fault { _ = send(Array("*1000000000\r\n$1\r\n".utf8), to: client) }
            if name == "AUTH" {
                isAdmitted = state.withLock { $0.password.map { Array($0.utf8) } == words.last }
                guard send(isAdmitted ? "+OK\r\n" : "-WRONGPASS invalid\r\n", to: client) else { return }
                continue
            }
            guard isAdmitted else {
                guard send("-NOAUTH Authentication required.\r\n", to: client) else { return }
                continue
            }
            guard send(reply(name, Array(words.dropFirst()), client, fault), to: client) else { return }
        }
    }

    private func reply(_ name: String, _ words: [[UInt8]], _ client: CInt, _ fault: Fault?) -> [UInt8] {
        // Keys that hold strings are neither streams nor sets.
        if ["XADD", "XRANGE", "SADD", "SSCAN"].contains(name), state.withLock({ $0.values[words[0]] != nil }) {
            return Array("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n".utf8)
        }
        if case .full? = fault, ["SET", "XADD"].contains(name) { return Array("-OOM command not allowed\r\n".utf8) }
        switch name {
        case "PING": return Array("+PONG\r\n".utf8)
        case "SELECT": return Array("+OK\r\n".utf8)
        case "SET":
            return state.withLock { state in
                if words.contains(Array("NX".utf8)), state.values[words[0]] != nil { return Array("$-1\r\n".utf8) }
                state.values[words[0]] = words[1]
                if words[1].count > 100 { state.lastWritten = words[1] }
                return Array("+OK\r\n".utf8)
            }
        case "EXPIRE": return Array(":1\r\n".utf8)
        case "MGET":
            if case .endless? = fault {
                let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
                guard send("+", to: client) else { return [] }
                while send(piece, to: client) {}
                return []
            }
            let found = state.withLock { state in
                words.map { word -> [UInt8] in
                    guard var value = state.values[word] else { return Array("$-1\r\n".utf8) }
                    if value.count > 100 {
                        if case .lying? = fault { value[value.count / 2] ^= 4 }
                        if case .mixing? = fault { value = state.lastWritten }
                    }
                    return Self.bulk(value)
                }
            }
            return Self.array(found)
        case "DEL", "UNLINK":
            let count = state.withLock { state in
                words.count { word in
                    if word == Array("alula:1:purges".utf8) { (state.log, state.isExhausted) = ([], false) }
                    let wasSet = state.sets.removeValue(forKey: word) != nil
                    return state.values.removeValue(forKey: word) != nil || wasSet
                }
            }
            return Array(":\(count)\r\n".utf8)
        case "XADD":
            let id: Int? = state.withLock { state in
                guard !state.isExhausted else { return nil }
                state.lastID += 1
                state.log.append((state.lastID, words.last ?? []))
                return state.lastID
            }
            guard let id else {
                return Array(
                    "-ERR The ID specified in XADD is equal or smaller than the target stream top item\r\n".utf8)
            }
            return Self.bulk("\(id)-0")
        case "XRANGE": return entries(words)
        case "PUBLISH":
            let listening = state.withLock { state in state.connections.filter(\.value).map(\.key) }
            let message = Self.array([Self.bulk("message"), Self.bulk(words[0]), Self.bulk(words[1])])
            for listener in listening { _ = send(message, to: listener) }
            return Array(":\(listening.count)\r\n".utf8)
        case "SUBSCRIBE":
            state.withLock { $0.connections[client] = true }
            return Self.array([Self.bulk("subscribe"), Self.bulk(words[0]), Array(":1\r\n".utf8)])
        case "SADD":
            let isNew = state.withLock { $0.sets[words[0], default: []].insert(words[1]).inserted }
            return Array(":\(isNew ? 1 : 0)\r\n".utf8)
        case "SSCAN":
            // Returns a page of members, sorted by bytes.
            let members = state.withLock { $0.sets[words[0], default: []].sorted { $0.lexicographicallyPrecedes($1) } }
            let first = Int(String(decoding: words[1], as: UTF8.self)) ?? 0
            let next = min(first + max(2, members.count / 20), members.count)
            let page = members[min(first, next)..<next].map { Self.bulk($0) }
            return Self.array([Self.bulk(next == members.count ? "0" : "\(next)"), Self.array(page)])
        case "SCAN":
            let found = state.withLock { state in
                state.values.keys.filter { $0.starts(with: words[2].dropLast()) }.map { Self.bulk($0) }
            }
            return Self.array([Self.bulk("0"), Self.array(found)])
        default: return Array("-ERR unknown command\r\n".utf8)
        }
    }

    /// Log entries from an ID on.
    private func entries(_ words: [[UInt8]]) -> [UInt8] {
        let first = Int(String(decoding: words[1].prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)) ?? 0
        let most = Int(String(decoding: words[4], as: UTF8.self)) ?? 0
        let found = state.withLock { $0.log.filter { $0.id >= first }.prefix(most) }
        let parts = found.map { entry -> [UInt8] in
            let fields = Self.array([Self.bulk("p"), Self.bulk(entry.payload)])
            return Self.array([Self.bulk("\(entry.id)-0"), fields])
        }
        return Self.array(parts)
    }

    private static func array(_ elements: [[UInt8]]) -> [UInt8] {
        var bytes = Array("*\(elements.count)\r\n".utf8)
        for element in elements { bytes += element }
        return bytes
    }

    private static func bulk(_ text: String) -> [UInt8] { bulk(Array(text.utf8)) }

    private static func bulk(_ bytes: [UInt8]) -> [UInt8] {
        Array("$\(bytes.count)\r\n".utf8) + bytes + Array("\r\n".utf8)
    }

    private func send(_ text: String, to client: CInt) -> Bool { send(Array(text.utf8), to: client) }

    private func send(_ bytes: [UInt8], to client: CInt) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count, let base = bytes.baseAddress {
                let count = unsafe Glibc.send(client, base + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }
}

/// Reads commands from a connection.
private struct CommandReader {
    let descriptor: CInt
    private var buffer: [UInt8] = []
    private var place = 0

    init(descriptor: CInt) { self.descriptor = descriptor }

    /// The words of the next command; nil if the client has closed the connection.
    mutating func next() -> [[UInt8]]? {
        buffer.removeFirst(place)
        place = 0
        guard let count = number(after: UInt8(ascii: "*")) else { return nil }
        var words: [[UInt8]] = []
        for _ in 0..<count {
            guard let length = number(after: UInt8(ascii: "$")), fill(to: place + length + 2) else { return nil }
            words.append(Array(buffer[place..<place + length]))
            place += length + 2
        }
        return words
    }

    private mutating func number(after mark: UInt8) -> Int? {
        while true {
            if let end = buffer[place...].firstIndex(of: UInt8(ascii: "\n")) {
                guard buffer[place] == mark else { return nil }
                defer { place = end + 1 }
                return Int(String(decoding: buffer[(place + 1)..<(end - 1)], as: UTF8.self))
            }
            guard fill(to: buffer.count + 1) else { return nil }
        }
    }

    private mutating func fill(to count: Int) -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while buffer.count < count {
            let received = unsafe recv(descriptor, &piece, piece.count, 0)
            if received < 0 && errno == EINTR { continue }
            guard received > 0 else { return false }
            buffer += piece[..<received]
        }
        return true
    }
}
