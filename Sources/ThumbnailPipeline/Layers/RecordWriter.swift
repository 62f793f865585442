import Memory

/// A value of a record; its fields are read in the order in which they are written.
protocol RecordValue {
    func write(to writer: inout RecordWriter)

    /// Returns nil if the bytes are invalid.
    init?(from reader: inout RecordReader)
}

/// Encodes values one after another; ``RecordReader`` reads them in the same order.
struct RecordWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ number: Int) { bytes += number.littleEndianBytes() }

    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func write(_ bytes: [UInt8]) {
        write(bytes.count)
        self.bytes += bytes
    }

    mutating func write(_ text: String) {
        write(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    mutating func write(numbers: [Int]) {
        write(numbers.count)
        for number in numbers { write(number) }
    }

    mutating func write(_ value: some RecordValue) { value.write(to: &self) }

    mutating func write(_ values: [some RecordValue]) {
        write(values.count)
        for value in values { write(value) }
    }
}

struct RecordReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func int() -> Int? {
        guard bytes.count - offset >= 8 else { return nil }
        defer { offset += 8 }
        return (0..<8).reduce(0) { $0 | Int(bytes[offset + $1]) << ($1 * 8) }
    }

    mutating func int(in range: ClosedRange<Int>) -> Int? { int().flatMap { range ~= $0 ? $0 : nil } }

    /// Reads a count of items that take at least a byte each; nil if the rest is too short for them.
    mutating func count() -> Int? { int().flatMap { 0 <= $0 && $0 <= bytes.count - offset ? $0 : nil } }

    mutating func flag() -> Bool? {
        guard offset < bytes.count, bytes[offset] <= 1 else { return nil }
        defer { offset += 1 }
        return bytes[offset] == 1
    }

    mutating func text() -> String? {
        guard let count = count() else { return nil }
        defer { offset += count }
        return String(validating: bytes[offset..<offset + count], as: UTF8.self)
    }

    /// Reads a text that is valid in an HTTP field (RFC 9110 section 5.5).
    mutating func line() -> String? {
        text().flatMap { text in text.utf8.allSatisfy { ![0x00, 0x0a, 0x0d].contains($0) } ? text : nil }
    }

    mutating func byteArray() -> [UInt8]? {
        guard let count = count() else { return nil }
        defer { offset += count }
        return Array(bytes[offset..<offset + count])
    }
    /// Reads as many numbers as precede them; nil if their count is not in `counts`.
    mutating func numbers(_ counts: ClosedRange<Int>) -> [Int]? {
        guard let count = int(in: counts) else { return nil }
        var numbers: [Int] = []
        for _ in 0..<count {
            guard let number = int() else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    mutating func values<Value: RecordValue>(atMost maximum: Int) -> [Value]? {
        guard let count = int(in: 0...maximum) else { return nil }
        var values: [Value] = []
        for _ in 0..<count {
            guard let value = Value(from: &self) else { return nil }
            values.append(value)
        }
        return values
    }
}
