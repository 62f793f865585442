import Recipes

/// The references between items (`iref`, ISO/IEC 14496-12 section 8.11.12).
struct HEIFReferences {
    private var boxes: BoxCursor
    let width: Int

    struct Reference {
        let type: Int
        fileprivate let contents: Range<Int>
        fileprivate let width: Int

        func source(in bytes: RawSpan) throws(ImagingError) -> Int {
            try bytes.bigEndian(width, at: contents.lowerBound)
        }

        func targets(in bytes: RawSpan) throws(ImagingError) -> [Int] {
            let start = contents.lowerBound + width
            let count = try bytes.bigEndian16(at: start)
            guard count * width <= contents.count - 2 - width else {
                throw .cannotDecode(detail: "the list of item references is truncated")
            }
            var targets: [Int] = []
            targets.reserveCapacity(count)
            for index in 0..<count { targets.append(try bytes.bigEndian(width, at: start + 2 + width * index)) }
            return targets
        }
    }

    init(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) {
        width = try bytes.byte(at: range.lowerBound) > 0 ? 4 : 2
        boxes = BoxCursor(range.dropFirst(4))
    }

    mutating func next(in bytes: RawSpan) throws(ImagingError) -> Reference? {
        guard let box = try boxes.next(in: bytes) else { return nil }
        return Reference(type: box.type, contents: box.contents, width: width)
    }
}
