/// Reads bits, the least significant of each byte first, as the header of a JPEG XL codestream holds them.
struct BitCursor {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A number of `count` bits, at most 32.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` at the end of the bytes.
    mutating func bits(_ count: Int) throws(ImagingError) -> Int {
        guard place + count <= 8 * bytes.count else { throw .cannotDecode(detail: "the JPEG XL header is truncated") }
        var value = 0
        for index in 0..<count {
            value |= Int(bytes[(place + index) / 8] >> ((place + index) % 8) & 1) << index
        }
        place += count
        return value
    }

    /// Reads one bit.
    mutating func flag() throws(ImagingError) -> Bool { try bits(1) == 1 }

    /// A number of one of four forms, each a constant and the bits of a summand (ISO/IEC 18181-1, `U32`).
    mutating func number(
        _ forms: (add: Int, bits: Int), _ second: (add: Int, bits: Int), _ third: (add: Int, bits: Int),
        _ fourth: (add: Int, bits: Int)
    ) throws(ImagingError) -> Int {
        let form = [forms, second, third, fourth][try bits(2)]
        return try form.add + bits(form.bits)
    }

    /// The number of an enumeration's case (`Enum`).
    mutating func choice() throws(ImagingError) -> Int { try number((0, 0), (1, 0), (2, 4), (18, 6)) }

    /// A floating-point number of 16 bits, which is not used.
    mutating func skipHalf() throws(ImagingError) { _ = try bits(16) }
}
