import CHiredis
import CHiredisShim
import Glibc
import Memory

enum Reply {
    case bytes(SharedBytes)
    case status
    case number(Int)
    case none
    case error(String)
    case array([Reply])

    /// A copy of the bytes; nil if they are long.
    var shortBytes: [UInt8]? {
        guard case .bytes(let bytes) = self, !isLong else { return nil }
        return bytes.array
    }

    var isLong: Bool { if case .bytes(let bytes) = self { bytes.count > 8_192 } else { false } }

    var elements: [Reply]? { if case .array(let elements) = self { elements } else { nil } }

    var failure: String? { if case .error(let text) = self { text } else { nil } }
}

/// A page of the reply to `SCAN` or `SSCAN`.
struct ScanPage {
    /// The cursor of the first page, which the last page returns.
    static let start = "0".sentBytes

    /// The cursor of the next page.
    let next: [UInt8]
    let elements: [Reply]

    init?(_ reply: Reply?) {
        guard let pair = reply?.elements, pair.count == 2, let next = pair[0].shortBytes,
            let elements = pair[1].elements
        else { return nil }
        self.next = next
        self.elements = elements
    }

    var isLast: Bool { next == Self.start }
}

/// Parses replies with hiredis; used by one thread.
@safe
final class ReplyReader {
    /// A reply is invalid or too long.
    struct ProtocolViolation: Error {}

    private let raw: UnsafeMutablePointer<redisReader>
    private let maximumBytes: Int
    private var byteCount = 0

    init?(maximumBytes: Int) {
        guard let raw = unsafe CHiredisShim_reader_create() else { return nil }
        unsafe self.raw = unsafe raw
        self.maximumBytes = maximumBytes
    }

    deinit { unsafe redisReaderFree(raw) }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(ProtocolViolation) {
        byteCount += bytes.count
        guard
            unsafe redisReaderFeed(raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count) == REDIS_OK
        else { throw ProtocolViolation() }
    }

    func next() throws(ProtocolViolation) -> Reply? {
        var object: UnsafeMutableRawPointer?
        guard unsafe redisReaderGetReply(raw, &object) == REDIS_OK else { throw ProtocolViolation() }
        guard let object = unsafe object else {
            // hiredis rescans a whole line whenever more of it arrives.
            if unsafe byteCount > maximumBytes || CHiredisShim_has_long_line(raw) { throw ProtocolViolation() }
            return nil
        }
        defer { unsafe freeReplyObject(object) }
        byteCount = unsafe CHiredisShim_unparsed(raw)
        return unsafe Self.reply(object.assumingMemoryBound(to: redisReply.self))
    }

    private static func reply(_ raw: UnsafeMutablePointer<redisReply>) -> Reply {
        switch unsafe raw.pointee.type {
        case REDIS_REPLY_STRING:
            let count = unsafe raw.pointee.len
            return unsafe .bytes(SharedBytes(heap: CHiredisShim_take_text(raw), count: count))
        case REDIS_REPLY_STATUS: return .status
        case REDIS_REPLY_INTEGER: return unsafe .number(Int(raw.pointee.integer))
        case REDIS_REPLY_ERROR:
            let text = unsafe UnsafeRawBufferPointer(start: raw.pointee.str, count: min(raw.pointee.len, 200))
            return unsafe .error(String(decoding: text, as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            return .array(
                (0..<(unsafe raw.pointee.elements)).map { index in
                    guard let element = unsafe CHiredisShim_element(raw, index) else { return .none }
                    return unsafe reply(element)
                })
        default: return .none
        }
    }
}
