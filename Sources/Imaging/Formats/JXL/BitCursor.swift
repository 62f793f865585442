import Recipes

/// Reads bits, least significant first within each byte; zeros after the end.
struct BitCursor {
    /// The bytes, followed by eight zeros.
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes + [UInt8](repeating: 0, count: 8) }

    var isTruncated: Bool { position > 8 * (bytes.count - 8) }

    /// Reads at most 56 bits.
    mutating func bits(_ count: Int) -> Int {
        defer { position += count }
        guard position / 8 <= bytes.count - 8 else { return 0 }
        let word = unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: position / 8, as: UInt64.self)
        return Int(UInt64(littleEndian: word) >> (position % 8) & (1 << count - 1))
    }

    mutating func skip(_ count: Int) { position += count }

    mutating func align() { position = (position + 7) / 8 * 8 }

    mutating func flag() -> Bool { bits(1) == 1 }

    /// Reads a `U32` (ISO/IEC 18181-1): one of four constants plus an offset of some bits.
    mutating func number(
        _ first: (add: Int, bits: Int), _ second: (add: Int, bits: Int), _ third: (add: Int, bits: Int),
        _ fourth: (add: Int, bits: Int)
    ) -> Int {
        let form =
            switch bits(2) {
            case 0: first
            case 1: second
            case 2: third
            default: fourth
            }
        return form.add + bits(form.bits)
    }

    mutating func choice() -> Int { number((0, 0), (1, 0), (2, 4), (18, 6)) }

    /// Reads a `U64`.
    mutating func longNumber() -> Int {
        switch bits(2) {
        case 0: return 0
        case 1: return 1 + bits(4)
        case 2: return 17 + bits(8)
        default:
            var value = bits(12)
            var shift = 12
            while shift <= 60, flag() {
                value |= bits(shift == 60 ? 4 : 8) << shift
                shift += 8
            }
            return value
        }
    }
}

extension BitCursor {
    mutating func jxlSize() -> PixelSize {
        let isSmall = flag()
        return jxlSize { cursor in
            isSmall ? 8 * (1 + cursor.bits(5)) : cursor.number((1, 9), (1, 13), (1, 18), (1, 30))
        }
    }

    mutating func jxlPreviewSize() -> PixelSize {
        let isSmall = flag()
        return jxlSize { cursor in
            isSmall
                ? 8 * cursor.number((16, 0), (32, 0), (1, 5), (33, 9))
                : cursor.number((1, 6), (65, 8), (321, 10), (1_345, 12))
        }
    }

    private mutating func jxlSize(_ side: (inout BitCursor) -> Int) -> PixelSize {
        let height = side(&self)
        let ratio = bits(3)
        let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let width = ratio == 0 ? side(&self) : height * ratios[ratio - 1].0 / ratios[ratio - 1].1
        return PixelSize(width: width, height: height)
    }

    mutating func jxlDepth() -> Int {
        guard flag() else { return number((8, 0), (10, 0), (12, 0), (1, 6)) }
        let bits = number((32, 0), (16, 0), (24, 0), (1, 6))
        skip(4)
        return bits
    }
}
