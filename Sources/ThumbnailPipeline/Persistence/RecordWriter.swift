import Memory

/// Writes values one after another as bytes; ``RecordReader`` reads them back in the same order.
struct RecordWriter {
    /// The bytes so far.
    private(set) var bytes: [UInt8] = []

    /// Writes a whole number: eight bytes, the lowest first.
    mutating func write(_ number: Int) { bytes += number.littleEndianBytes() }

    /// Writes a yes or no.
    mutating func write(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    /// Writes bytes with their number.
    mutating func write(_ bytes: [UInt8]) {
        write(bytes.count)
        self.bytes += bytes
    }

    /// Writes a text with its length.
    mutating func write(_ text: String) {
        write(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }
}

/// Reads what ``RecordWriter`` has written; nil if the bytes are not from it.
struct RecordReader {
    private let bytes: [UInt8]
    private var place = 0

    /// Reads from the first byte on.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether everything has been read.
    var isAtEnd: Bool { place == bytes.count }

    /// The next value, a whole number.
    mutating func int() -> Int? {
        guard bytes.count - place >= 8 else { return nil }
        defer { place += 8 }
        return (0..<8).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
    }

    /// The next value, a whole number in `range`.
    mutating func int(in range: ClosedRange<Int>) -> Int? { int().flatMap { range ~= $0 ? $0 : nil } }

    /// The next value, a number of things that each take a byte at least.
    mutating func count() -> Int? {
        int().flatMap { 0 <= $0 && $0 <= bytes.count - place ? $0 : nil }
    }

    /// The next value, a yes or no.
    mutating func flag() -> Bool? {
        guard place < bytes.count, bytes[place] <= 1 else { return nil }
        defer { place += 1 }
        return bytes[place] == 1
    }

    /// The next value, a text.
    mutating func text() -> String? {
        guard let count = count() else { return nil }
        defer { place += count }
        return String(validating: bytes[place..<place + count], as: UTF8.self)
    }

    /// The next value, a text that ends no line and can stand in a field of a header (RFC 9110 section 5.5).
    mutating func line() -> String? {
        text().flatMap { text in text.utf8.allSatisfy { ![0x00, 0x0a, 0x0d].contains($0) } ? text : nil }
    }

    /// The next value, bytes.
    mutating func byteArray() -> [UInt8]? {
        guard let count = count() else { return nil }
        defer { place += count }
        return Array(bytes[place..<place + count])
    }
}
