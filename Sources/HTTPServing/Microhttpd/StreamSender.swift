import CMicrohttpdShim
import Glibc
import HTTPTypes
import Memory

/// Sends a streamed body, and suspends the connection while there is nothing to send; event thread only.
final class StreamSender {
    private let body: StreamedBody
    private let connection: ClientConnection
    private var piece: SharedBytes?
    private var offset = 0

    init(_ body: StreamedBody, on connection: ClientConnection) {
        self.body = body
        self.connection = connection
    }

    /// Returns nil if out of memory.
    @unsafe
    func makeResponse() -> OpaquePointer? {
        // Balanced in `releaseSender`, which the library calls once, when the last byte is sent or the connection is
        // gone.
        let owner = unsafe Unmanaged.passRetained(self)
        let raw = unsafe CMicrohttpdShim_response_reading(readStream, releaseSender, owner.toOpaque())
        if unsafe raw == nil {
            unsafe owner.release()
            close()
        }
        return unsafe raw
    }

    /// Returns the value that ``CMicrohttpdShim_response_reading`` expects.
    @unsafe
    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        connection.endStreamWait()
        while true {
            if let piece {
                let count = min(buffer.count, piece.count - offset)
                unsafe piece.withUnsafeBytes { bytes in
                    let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
                    unsafe buffer.copyMemory(from: part)
                }
                offset += count
                if offset == piece.count { self.piece = nil }
                return count
            }
            switch body.take() {
            case .bytes(let bytes): (piece, offset) = (bytes, 0)
            case .end: return -1
            case .broken:
                connection.abortResponse()
                return -2
            case .pending:
                connection.suspend(until: body)
                return 0
            }
        }
    }

    fileprivate func close() { body.close() }
}

/// The wait for the next piece of a body; guarded by the connection's lock.
struct StreamWait {
    private var waiting: (ticket: UInt64, body: StreamedBody)?

    mutating func begin(_ ticket: UInt64, sending body: StreamedBody) { waiting = (ticket, body) }

    /// Takes the wait with this ticket; a nil ticket stands for any.
    mutating func take(_ ticket: UInt64?) -> StreamedBody? {
        guard let waiting, ticket == nil || ticket == waiting.ticket else { return nil }
        self.waiting = nil
        return waiting.body
    }
}

private func readStream(
    _ owner: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, size: Int
) -> Int {
    guard let owner = unsafe owner, let buffer = unsafe buffer else { return -2 }
    let sender = unsafe Unmanaged<StreamSender>.fromOpaque(owner).takeUnretainedValue()
    return unsafe sender.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

private func releaseSender(_ owner: UnsafeMutableRawPointer?) {
    guard let owner = unsafe owner else { return }
    unsafe Unmanaged<StreamSender>.fromOpaque(owner).takeRetainedValue().close()
}
