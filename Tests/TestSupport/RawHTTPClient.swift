import Coordination
import Glibc
package import HTTPTypes

/// A client that sends any bytes and reads the responses, over one connection.
///
/// Reads block threads of the client's own, so that tasks of the test and of the server continue.
package final class RawHTTPClient: Sendable {
    package enum Failure: Error, Equatable {
        /// The connection failed with this `errno`.
        case cannotConnect(Int32)
        /// The connection ended before or during a response.
        case closed
        case reset
        /// Nothing arrived for ten seconds.
        case silent
        /// The bytes are not an HTTP/1.1 response.
        case malformed(String)
    }

    /// A received response.
    package struct Response: Sendable {
        package let status: Int
        /// The fields as received.
        package let headerFields: HTTPFields
        package let body: [UInt8]

        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    private static let readers = WorkerPool(count: 32, maximumQueued: 10_000, name: "raw-client")

    private let descriptor: CInt
    private let received = Locked<[UInt8]>([])
    private let isOpen = Locked(true)

    /// Connects to a server on this machine.
    ///
    /// - Parameters:
    ///   - port: The port on this machine.
    ///   - receiveBufferSize: Small to simulate a slow client.
    ///   - ownAddress: Last byte of the client's address in 127.0.0.0/8.
    package init(port: UInt16, receiveBufferSize: Int? = nil, ownAddress: UInt8 = 1) throws(Failure) {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .cannotConnect(errno) }
        if var size = receiveBufferSize.map({ CInt($0) }) {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<CInt>.size))
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if ownAddress != 1 {
            unsafe Self.withAddress(0x7f00_0000 | UInt32(ownAddress), port: 0) { unsafe bind(descriptor, $0, $1) }
        }
        let status = unsafe Self.withAddress(0x7f00_0001, port: port) { unsafe Glibc.connect(descriptor, $0, $1) }
        guard status == 0 else {
            let error = errno
            close()
            throw .cannotConnect(error)
        }
    }

    deinit {
        close()
    }

    @unsafe
    @discardableResult
    private static func withAddress(
        _ host: UInt32, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = host.bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe body(address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    package func send(_ text: String) {
        send(Array(text.utf8))
    }

    /// Sends bytes; drops them if the server has closed the connection.
    package func send(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count, let base = bytes.baseAddress {
                let count = unsafe Glibc.send(descriptor, base + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
                if count <= 0 { return }
                sent += count
            }
        }
    }

    /// Shuts down the sending side; responses can still be read.
    package func finishSending() {
        Glibc.shutdown(descriptor, CInt(SHUT_WR))
    }

    package func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { Glibc.close(descriptor) }
    }

    /// Reads the next response.
    ///
    /// - Parameter isHead: Whether the request was a HEAD; then no body follows the announced length.
    package func response(isHead: Bool = false) async throws -> Response {
        try await Self.readers.run { _ in try self.blockingResponse(isHead: isHead) }
    }

    /// Reads the next bytes as received.
    package func bytes(_ count: Int) async throws -> [UInt8] {
        try await Self.readers.run { _ in
            while self.received.withLock({ $0.count }) < count {
                guard try self.blockingReceive() else { throw Failure.closed }
            }
            return self.take(count)
        }
    }

    /// Reads until the server closes the connection; throws if it does not.
    package func remainder() async throws -> [UInt8] {
        try await Self.readers.run { _ in
            while try self.blockingReceive() {}
            return self.received.withLock { received in
                defer { received = [] }
                return received
            }
        }
    }

    private func blockingResponse(isHead: Bool) throws -> Response {
        var end = headEnd()
        while end == nil {
            guard try blockingReceive() else { throw Failure.closed }
            end = headEnd()
        }
        let head = String(decoding: take(end ?? 0), as: UTF8.self)
        let lines = head.split(separator: "\r\n")
        let parts = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1", let status = Int(parts[1]) else {
            throw Failure.malformed(head)
        }
        var fields = HTTPFields()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
                throw Failure.malformed(String(line))
            }
            fields.append(name, HTTPSyntax.trimmed(line[line.index(after: colon)...]))
        }
        let hasBody = !isHead && status != 304 && status != 204
        let length = hasBody ? fields[.contentLength].flatMap { Int($0) } ?? 0 : 0
        while received.withLock({ $0.count }) < length {
            guard try blockingReceive() else { throw Failure.closed }
        }
        return Response(status: status, headerFields: fields, body: take(length))
    }

    private func headEnd() -> Int? {
        received.withLock { received in
            guard received.count >= 4 else { return nil }
            let mark = Array("\r\n\r\n".utf8)
            return (0...received.count - 4).first { received[$0] == mark[0] && Array(received[$0..<$0 + 4]) == mark }
                .map { $0 + 4 }
        }
    }

    private func take(_ count: Int) -> [UInt8] {
        received.withLock { received in
            defer { received.removeFirst(count) }
            return Array(received.prefix(count))
        }
    }

    /// Returns false if the server has closed the connection without a reset.
    private func blockingReceive() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count >= 0 else { throw errno == EAGAIN ? Failure.silent : Failure.reset }
        received.withLock { $0.append(contentsOf: buffer.prefix(count)) }
        return count > 0
    }
}
