import Glibc
import HTTPServing
import JSON
import Text

/// Speaks to the operators' listener of a running service: one request, one answer, one connection.
struct OperatorClient: Sendable {
    /// An answer.
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]

        /// The body as text.
        var text: String { String(decoding: body, as: UTF8.self) }
        /// The body as JSON; nil if it is none.
        var json: JSONValue? { try? JSONReader.value(in: body) }
    }

    private let address: String
    private let port: UInt16

    /// Longest answer that is read, in bytes.
    private static let longestAnswer = 64 << 20
    /// Seconds for which the service may be silent.
    private static let patience = 60

    /// A client of the listener that `settings` describe.
    ///
    /// - Throws: ``CommandFailure`` if the settings leave the port open.
    init(_ settings: Settings) throws(CommandFailure) {
        port = settings.operatorListener.port
        guard port != 0 else {
            throw CommandFailure(code: "no_port", "adminPort is 0, so the port cannot be known; give --admin-port")
        }
        switch settings.operatorListener.bindAddress {
        case "0.0.0.0": address = "127.0.0.1"
        case "::": address = "::1"
        case let other: address = other
        }
    }

    /// Where the listener is, for messages.
    var place: String { address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)" }

    /// Sends a request and waits for the answer, on the calling thread.
    ///
    /// - Parameters:
    ///   - method: Such as `GET`.
    ///   - target: The path and the query, percent-encoded.
    ///   - json: The body; nil for none.
    /// - Throws: ``CommandFailure``.
    func blockingSend(_ method: String, _ target: String, json: JSONValue? = nil) throws(CommandFailure) -> Answer {
        let socket = try connected()
        defer { close(socket) }
        let body = json.map(\.text) ?? ""
        var request = "\(method) \(target) HTTP/1.1\r\nHost: \(place)\r\nConnection: close\r\n"
        if json != nil { request += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
        let text = Array((request + "\r\n" + body).utf8)
        var sent = 0
        while sent < text.count {
            let count = unsafe text.withUnsafeBytes { bytes in
                unsafe send(socket, bytes.baseAddress.map { unsafe $0 + sent }, text.count - sent, CInt(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            sent += count
        }
        guard let answer = Self.answer(in: try blockingRead(socket)) else { throw unanswered }
        return answer
    }

    /// The JSON of an answer.
    ///
    /// - Throws: ``CommandFailure`` with what the service says if it refuses.
    func blockingJSON(_ method: String, _ target: String, json: JSONValue? = nil) throws(CommandFailure) -> Answer {
        let answer = try blockingSend(method, target, json: json)
        guard (200..<300).contains(answer.status) else { throw Self.failure(of: answer) }
        return answer
    }

    /// What a refusal says.
    private static func failure(of answer: Answer) -> CommandFailure {
        guard let members = answer.json?.members, case .string(let detail)? = members["detail"] else {
            return CommandFailure(code: "refused", "the service answered with status \(answer.status)")
        }
        var code = "refused"
        if case .string(let text)? = members["code"] { code = text }
        var reason = CommandFailure.lowered(detail)
        if reason.hasSuffix(".") { reason.removeLast() }
        return CommandFailure(code: code, reason)
    }

    /// A socket that is connected to the listener.
    private func connected() throws(CommandFailure) -> CInt {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(address, "\(port)", &hints, &found) == 0 else { throw unanswered }
        defer { unsafe freeaddrinfo(found) }
        var next = unsafe found
        while let entry = unsafe next {
            let descriptor = unsafe socket(
                entry.pointee.ai_family, entry.pointee.ai_socktype | CInt(SOCK_CLOEXEC.rawValue),
                entry.pointee.ai_protocol)
            if descriptor >= 0 {
                var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
                let size = socklen_t(MemoryLayout<timeval>.size)
                unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
                unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
                if unsafe connect(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0 {
                    return descriptor
                }
                close(descriptor)
            }
            unsafe next = entry.pointee.ai_next
        }
        throw unanswered
    }

    private var unanswered: CommandFailure {
        CommandFailure(code: "no_service", "no service answers at \(place) (adminBind, adminPort)")
    }

    private func blockingRead(_ socket: CInt) throws(CommandFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count < Self.longestAnswer {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            if count < 0, !bytes.isEmpty || errno != EAGAIN { break }
            guard count >= 0 else {
                throw CommandFailure(code: "no_service", "the service at \(place) was silent for \(Self.patience) s")
            }
            if count == 0 { break }
            bytes += piece.prefix(count)
        }
        return bytes
    }

    /// An answer of HTTP/1.1 whose body ends with the connection, or with its announced length; nil for anything else.
    static func answer(in bytes: [UInt8]) -> Answer? {
        let mark = Array("\r\n\r\n".utf8)
        guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, words[0].utf8.starts(with: "HTTP/1.".utf8), let status = Int(words[1]) else {
            return nil
        }
        let rest = bytes[(end + mark.count)...]
        for line in lines.dropFirst() where line.prefix(before: UInt8(ascii: ":")).asciiLowercased == "content-length" {
            guard let count = line.suffix(after: UInt8(ascii: ":")).flatMap({ Int($0.trimmingSpaces) }),
                count >= 0, count <= rest.count
            else { return nil }
            return Answer(status: status, body: Array(rest.prefix(count)))
        }
        return Answer(status: status, body: Array(rest))
    }
}
