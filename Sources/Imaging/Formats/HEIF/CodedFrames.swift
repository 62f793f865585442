import Recipes

/// Counts the frames in coded data without decoding them.
///
/// A decoder decodes all frames of an item before it returns one, including earlier layers of AV1 and hidden frames.
struct CodedFrames {
    private var units = 0
    private var hasReducedHeaders = false

    /// The maximum number of units in a file; three per frame are usual.
    private static let maximumUnits = 200_000

    /// Counts HEVC frames; each slice counts, because it may cover the whole image.
    ///
    /// Stops at damage, like the decoder.
    ///
    /// - Parameter parameters: The contents of the `hvcC` box.
    mutating func count(
        _ coding: HEIFCoding, in extents: [Range<Int>], parameters: Range<Int>?, of bytes: RawSpan
    ) throws(ImagingError) -> Int {
        var reader = ExtentReader(extents)
        switch coding {
        case .av1: return try countAV1(&reader, in: bytes)
        case .hevc:
            guard let parameters, parameters.count > 21 else { return 0 }
            return try countHEVC(&reader, lengthSize: bytes.byte(at: parameters.lowerBound + 21) & 3 + 1, in: bytes)
        }
    }

    private mutating func addUnit() throws(ImagingError) {
        units += 1
        guard units <= Self.maximumUnits else { throw .cannotDecode(detail: "the coded data have too many units") }
    }

    private mutating func countAV1(_ reader: inout ExtentReader, in bytes: RawSpan) throws(ImagingError) -> Int {
        var frames = 0
        while let header = reader.next(bytes) {
            try addUnit()
            if header & 4 != 0 { _ = reader.next(bytes) }
            let length = header & 2 != 0 ? reader.variableNumber(bytes) : reader.count
            guard let length, length <= reader.count else { break }
            var rest = reader.split(length)
            switch header >> 3 & 15 {
            // A sequence header; its fifth bit reduces frame headers.
            case 1: hasReducedHeaders = hasReducedHeaders || rest.next(bytes).map { $0 & 8 != 0 } ?? false
            case 3, 7: if hasReducedHeaders || rest.next(bytes).map({ $0 & 0x80 == 0 }) ?? false { frames += 1 }
            case 6: frames += 1
            default: break
            }
        }
        return frames
    }

    private mutating func countHEVC(
        _ reader: inout ExtentReader, lengthSize: Int, in bytes: RawSpan
    ) throws(ImagingError) -> Int {
        var slices = 0
        var images = 0
        while reader.count >= lengthSize {
            try addUnit()
            let length = reader.number(lengthSize, in: bytes)
            guard length <= reader.count else { break }
            var unit = reader.split(length)
            let first = unit.next(bytes) ?? 0
            let second = unit.next(bytes) ?? 0
            let third = unit.next(bytes) ?? 0
            guard length > 2, first >> 1 & 0x3F < 32, first & 1 == 0, second >> 3 == 0 else { continue }
            slices += 1
            if third & 0x80 != 0 || first | second == 0 { images += 1 }
        }
        guard images <= 1 else { throw .cannotDecode(detail: "an item holds \(images) images") }
        return slices
    }
}

private struct ExtentReader {
    private let extents: [Range<Int>]
    private var index = 0
    private var offset = 0
    private(set) var count: Int

    init(_ extents: [Range<Int>]) {
        self.extents = extents
        count = extents.byteCount
    }

    mutating func next(_ bytes: RawSpan) -> Int? {
        guard count > 0 else { return nil }
        while offset == extents[index].count {
            index = index + 1
            offset = 0
        }
        defer {
            offset = offset + 1
            count = count - 1
        }
        return try? bytes.byte(at: extents[index].lowerBound + offset)
    }

    mutating func number(_ width: Int, in bytes: RawSpan) -> Int {
        (0..<width).reduce(0) { number, _ in number << 8 | (next(bytes) ?? 0) }
    }

    /// Reads a LEB128 number; nil for more than 32 bits.
    mutating func variableNumber(_ bytes: RawSpan) -> Int? {
        var number = 0
        for index in 0..<8 {
            guard let byte = next(bytes) else { return nil }
            number |= (byte & 0x7F) << (7 * index)
            if byte < 0x80 { return number <= UInt32.max ? number : nil }
        }
        return nil
    }

    mutating func split(_ length: Int) -> ExtentReader {
        var taken = self
        taken.count = length
        count -= length
        offset += length
        while index < extents.count - 1, offset >= extents[index].count {
            offset -= extents[index].count
            index += 1
        }
        return taken
    }
}
