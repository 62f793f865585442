import Memory

/// Writes the numbers of a fixed-size message in little-endian order.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []
    private let count: Int

    init(count: Int) {
        self.count = count
        bytes.reserveCapacity(count)
    }

    mutating func put(_ number: some FixedWidthInteger) { bytes += number.littleEndianBytes() }

    mutating func put(_ number: Double) { put(number.bitPattern) }

    mutating func put(_ flag: Bool) { put(UInt8(flag ? 1 : 0)) }

    /// Returns the message, padded with zeros.
    consuming func finish() -> [UInt8] {
        precondition(bytes.count <= count, "the message is too long")
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }
}

/// Reads the numbers of a message in order; each method returns nil at the end of the message.
struct MessageReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let count = Number.bitWidth / 8
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    /// Reads a count or a length, never negative.
    mutating func size() -> Int? { number(UInt32.self).map(Int.init) }

    /// Reads a number that may be infinite, but not NaN.
    mutating func fraction() -> Double? {
        number(UInt64.self).map(Double.init(bitPattern:)).flatMap { $0.isNaN ? nil : $0 }
    }

    mutating func flag() -> Bool? {
        switch number(UInt8.self) {
        case 0: false
        case 1: true
        default: nil
        }
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard 0...rest.count ~= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
}
