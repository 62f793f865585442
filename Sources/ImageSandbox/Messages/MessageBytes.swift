import Memory

/// Writes the numbers of a message of fixed size, each with its least significant byte first.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []
    private let count: Int

    /// A message of `count` bytes.
    init(count: Int) {
        self.count = count
        bytes.reserveCapacity(count)
    }

    mutating func put(_ number: some FixedWidthInteger) { bytes += number.littleEndianBytes() }

    mutating func put(_ number: Double) { put(number.bitPattern) }

    mutating func put(_ flag: Bool) { put(UInt8(flag ? 1 : 0)) }

    /// The message, padded with zeros.
    consuming func finish() -> [UInt8] {
        precondition(bytes.count <= count, "the message is too long")
        return bytes + [UInt8](repeating: 0, count: count - bytes.count)
    }
}

/// Reads the numbers of a message one after the other; each method returns nil at the message's end.
struct MessageReader {
    private var rest: ArraySlice<UInt8>

    /// Starts at the first of `bytes`.
    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type = Number.self) -> Number? {
        let count = Number.bitWidth / 8
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    /// A count or a length, never negative.
    mutating func size() -> Int? { number(UInt32.self).map(Int.init) }

    /// A number that may be infinite, but not NaN.
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
