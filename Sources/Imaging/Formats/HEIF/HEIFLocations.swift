import Recipes

/// The locations of items (`iloc`, ISO/IEC 14496-12 section 8.11.3).
struct HEIFLocations {
    /// The contents of `idat`.
    private var itemData: Range<Int>?
    private var entries: [Int: Int] = [:]
    private var sizes = (offset: 0, length: 0, base: 0, index: 0)
    private var version = 0

    /// The maximum number of extents of an item; most have one, progressive AV1 has one per layer.
    private static let maximumExtents = 256
    private static let maximumExtentsOfAll = 2 * HEIFItems.maximumItems

    init(_ bytes: RawSpan, meta: Range<Int>) throws(ImagingError) {
        var boxes = BoxCursor(meta.dropFirst(4))
        var list: Range<Int>?
        while let box = try boxes.next(in: bytes) {
            switch box.type {
            case BoxCursor.type("iloc"): list = list ?? box.contents
            case BoxCursor.type("idat"): itemData = itemData ?? box.contents
            default: break
            }
        }
        if let list { try readEntries(bytes, at: list.lowerBound) }
    }

    private mutating func readEntries(_ bytes: RawSpan, at start: Int) throws(ImagingError) {
        var reader = NumberReader(offset: start)
        version = try reader.number(1, in: bytes)
        _ = try reader.number(3, in: bytes)
        let widths = try reader.number(2, in: bytes)
        sizes = (widths >> 12, widths >> 8 & 15, widths >> 4 & 15, version == 0 ? 0 : widths & 15)
        let count = try reader.number(version < 2 ? 2 : 4, in: bytes)
        var all = 0
        guard count <= HEIFItems.maximumItems else { throw .cannotDecode(detail: "too many items") }
        for _ in 0..<count {
            let entry = reader.offset
            let item = try reader.number(version < 2 ? 2 : 4, in: bytes)
            reader.skip((version == 0 ? 0 : 2) + 2 + sizes.base)
            let extents = try reader.number(2, in: bytes)
            all += extents
            guard all <= Self.maximumExtentsOfAll else {
                throw .cannotDecode(detail: "the items have too many extents")
            }
            reader.skip(extents * (sizes.index + sizes.offset + sizes.length))
            if entries[item] == nil { entries[item] = entry }
        }
    }

    /// Returns the extents in order; nil if they are in other files or items.
    func extents(of item: Int, in bytes: RawSpan) throws(ImagingError) -> [Range<Int>]? {
        guard let entry = entries[item] else { return [] }
        var reader = NumberReader(offset: entry)
        reader.skip(version < 2 ? 2 : 4)
        let method = try version == 0 ? 0 : reader.number(2, in: bytes) & 15
        let isHere = try reader.number(2, in: bytes) == 0
        guard isHere, method <= 1 else { return nil }
        let container = method == 1 ? itemData ?? 0..<0 : 0..<bytes.byteCount
        let base = try reader.number(sizes.base, in: bytes)
        let count = try reader.number(2, in: bytes)
        guard count <= Self.maximumExtents else { throw .cannotDecode(detail: "an item has \(count) extents") }
        var extents: [Range<Int>] = []
        for _ in 0..<count {
            _ = try reader.number(sizes.index, in: bytes)
            let offset = try base + reader.number(sizes.offset, in: bytes)
            var length = try reader.number(sizes.length, in: bytes)
            // Without a length, an item extends to the end.
            if length == 0, count == 1, offset <= container.count { length = container.count - offset }
            guard offset <= container.count, length <= container.count - offset else {
                throw .cannotDecode(detail: "the file ends before its pixels do")
            }
            extents.append(container.lowerBound + offset..<container.lowerBound + offset + length)
        }
        return extents
    }
}

extension HEIFLocations {
    func onlyExtent(of item: Int, in bytes: RawSpan) throws(ImagingError) -> Range<Int>? {
        guard let extents = try extents(of: item, in: bytes), extents.count == 1 else { return nil }
        return extents[0]
    }
}

extension EXIFTexts {
    /// Reads the first EXIF item; damage affects only the texts.
    static func heif(_ bytes: RawSpan, items: HEIFItems) -> EXIFTexts? {
        guard let item = items.exif, let range = try? items.locations.onlyExtent(of: item, in: bytes) else {
            return nil
        }
        return EXIFTexts(offset: bytes, range: range)
    }
}

private struct NumberReader {
    private(set) var offset: Int

    mutating func number(_ count: Int, in bytes: RawSpan) throws(ImagingError) -> Int {
        defer { offset += count }
        return try bytes.bigEndian(count, at: offset)
    }

    mutating func skip(_ count: Int) { offset += count }
}
