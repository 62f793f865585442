import Recipes

/// Walks the boxes of a file (ISO/IEC 14496-12 section 4.2).
struct BoxCursor {
    struct Box {
        let type: Int
        let contents: Range<Int>
    }

    private var offset: Int
    private let end: Int
    private let mayBeCut: Bool
    private var count = 0
    private static let maximum = 1 << 15

    /// - Parameter mayBeCut: Whether the end of the range may truncate the last box.
    init(_ range: Range<Int>, mayBeCut: Bool = false) {
        offset = range.lowerBound
        end = range.upperBound
        self.mayBeCut = mayBeCut
    }

    mutating func next(in bytes: RawSpan) throws(ImagingError) -> Box? {
        guard offset <= end - 8 else { return nil }
        count += 1
        guard count <= Self.maximum else { throw .cannotDecode(detail: "too many boxes") }
        var length = try bytes.bigEndian32(at: offset)
        let type = try bytes.bigEndian32(at: offset + 4)
        var start = offset + 8
        if length == 0 {
            length = end - offset
        } else if length == 1 {
            length = try bytes.bigEndian(8, at: offset + 8)
            start += 8
        }
        guard length >= start - offset, mayBeCut || length <= end - offset else {
            throw .cannotDecode(detail: "a box of \(length) bytes does not fit")
        }
        offset = max(start, min(offset + length, end))
        return Box(type: type, contents: start..<offset)
    }

    mutating func next(of type: Int, in bytes: RawSpan) throws(ImagingError) -> Box? {
        while let box = try next(in: bytes) {
            if box.type == type { return box }
        }
        return nil
    }

    static func type(_ characters: StaticString) -> Int {
        precondition(characters.utf8CodeUnitCount == 4)
        return unsafe Int(UInt32(bigEndian: UnsafeRawPointer(characters.utf8Start).loadUnaligned(as: UInt32.self)))
    }
}
