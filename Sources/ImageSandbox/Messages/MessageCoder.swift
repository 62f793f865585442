import Memory
import Recipes

/// Codes messages in little-endian: one function of a type both writes and reads it.
///
/// Each method returns the value that it wrote or read. A reader may start from any value.
struct MessageCoder {
    /// Whether the message was complete and has only values that a writer writes.
    private(set) var isValid = true
    private var bytes: [UInt8] = []
    private var offset = 0
    private let isReading: Bool

    init() { isReading = false }

    init(reading bytes: [UInt8]) {
        self.bytes = bytes
        isReading = true
    }

    /// The length of all messages in bytes.
    static let messageLength = 768

    static func message<Message>(
        of message: Message, kind: Int, _ code: (inout MessageCoder, Message) -> Message
    ) -> [UInt8] {
        var coder = MessageCoder()
        _ = coder.byte(kind)
        _ = code(&coder, message)
        precondition(coder.bytes.count <= messageLength, "the message is too long")
        return coder.bytes + [UInt8](repeating: 0, count: messageLength - coder.bytes.count)
    }

    /// Reads a message; returns nil if it is invalid.
    ///
    /// - Parameter initialMessage: Returns any message of a kind, to start reading from; nil for an unknown kind.
    static func read<Message>(
        _ bytes: [UInt8], startingFrom initialMessage: (_ kind: Int) -> Message?,
        _ code: (inout MessageCoder, Message) -> Message
    ) -> Message? {
        var coder = MessageCoder(reading: bytes)
        guard bytes.count == messageLength, let initial = initialMessage(coder.byte(0)) else { return nil }
        let message = code(&coder, initial)
        return coder.isValid ? message : nil
    }

    mutating func require(_ condition: Bool) { isValid = isValid && condition }

    mutating func number<Number: FixedWidthInteger>(_ value: Number) -> Number {
        guard isReading else {
            bytes += value.littleEndianBytes()
            return value
        }
        return bytes(Number.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func byte(_ value: Int) -> Int { Int(number(UInt8(clamping: value))) }

    mutating func word(_ value: Int) -> Int { Int(number(UInt16(clamping: value))) }

    mutating func size(_ value: Int) -> Int { Int(number(UInt32(clamping: value))) }

    mutating func long(_ value: Int) -> Int {
        let number = number(UInt64(clamping: value))
        require(number <= Int.max)
        return Int(clamping: number)
    }

    mutating func flag(_ value: Bool) -> Bool { index(value ? 1 : 0, below: 2) == 1 }

    /// Codes a number that may be infinite, but not NaN.
    mutating func fraction(_ value: Double) -> Double {
        let result = Double(bitPattern: number(value.bitPattern))
        require(!result.isNaN)
        return result
    }

    mutating func index(_ value: Int, below count: Int) -> Int {
        let index = byte(value)
        require(index < count)
        return min(index, count - 1)
    }

    /// Codes the index, because both processes run the same executable.
    mutating func element<Element: Equatable>(_ value: Element, of all: [Element]) -> Element {
        all[index(all.firstIndex(of: value) ?? 0, below: all.count)]
    }

    mutating func pixelSize(_ size: PixelSize) -> PixelSize {
        PixelSize(width: self.size(size.width), height: self.size(size.height))
    }

    /// Codes printable ASCII; replaces other bytes with question marks, so that the text cannot forge log lines.
    mutating func text(_ value: String) -> String {
        let count = byte(min(value.utf8.count, Self.longestText))
        require(count <= Self.longestText)
        guard isReading else {
            bytes += value.utf8.prefix(count)
            return value
        }
        return String(decoding: bytes(count).map { 0x20..<0x7F ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    private static let longestText = 200

    /// Codes bytes; reads zeros if the message is too short.
    mutating func bytes(_ count: Int) -> [UInt8] {
        require(0...bytes.count - offset ~= count)
        guard isValid else { return [UInt8](repeating: 0, count: min(max(0, count), 8)) }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }
}
