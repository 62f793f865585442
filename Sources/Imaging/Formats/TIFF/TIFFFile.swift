import CVipsShim
import Recipes

struct TIFFFile {
    /// The maximum number of pages; files with more are rejected.
    static let maximumPages = 4_096
    /// The maximum number of entries in all directories together, because directories may overlap.
    private static let maximumEntries = 1 << 17
    /// Bytes per value by type: BYTE, SHORT, LONG, UNDEFINED, IFD, LONG8.
    private static let sizes = [1: 1, 3: 2, 4: 4, 7: 1, 13: 4, 16: 8]

    private let isLittleEndian: Bool
    private let isBig: Bool
    private var offset = 0
    private var seen: Set<Int> = []
    private var entries = 0
    private(set) var profile: Range<Int>?
    private var hasReadPage = false
    private(set) var tiles: Tiles?

    struct Tiles {
        fileprivate let start, size, count: Int
    }

    init(_ bytes: RawSpan) throws(ImagingError) {
        isLittleEndian = bytes.hasText("II", at: 0)
        isBig = bytes.hasBytes([43, 0], at: 2) || bytes.hasBytes([0, 43], at: 2)
        offset = try long(bytes, at: isBig ? 8 : 4, is64Bit: isBig)
    }

    mutating func next(in bytes: RawSpan) throws(ImagingError) -> TIFFDirectory? {
        guard offset != 0 else { return nil }
        let count = try isBig ? long(bytes, at: offset, is64Bit: true) : short(bytes, at: offset)
        let start = offset + (isBig ? 8 : 2)
        let length = isBig ? 20 : 12
        entries += min(count, Self.maximumEntries + 1)
        guard seen.insert(offset).inserted, seen.count <= Self.maximumPages, entries <= Self.maximumEntries else {
            throw .cannotDecode(detail: "the TIFF file has too many pages, or a page comes twice")
        }
        var directory = TIFFDirectory()
        tiles = nil
        for index in 0..<count {
            let entry = start + index * length
            // The tag for reduced copies comes first.
            let mayHaveProfile = !hasReadPage && !directory.isCopy
            directory.read(
                tag: try short(bytes, at: entry), value: try value(bytes, at: entry, mayHaveProfile: mayHaveProfile))
        }
        hasReadPage = hasReadPage || !directory.isCopy
        // Old programs omit the offset after the last entry.
        offset = (try? long(bytes, at: start + count * length, is64Bit: isBig)) ?? 0
        return directory
    }

    /// Reads the number of values, at most the file's bytes, and up to four values.
    private mutating func value(
        _ bytes: RawSpan, at entry: Int, mayHaveProfile: Bool
    ) throws(ImagingError) -> TIFFDirectory.Value {
        let type = try short(bytes, at: entry + 2)
        let count = min(try long(bytes, at: entry + 4, is64Bit: isBig), bytes.byteCount)
        guard let size = Self.sizes[type] else { return TIFFDirectory.Value(count: count, numbers: []) }
        let fieldSize = isBig ? 8 : 4
        let field = entry + (isBig ? 12 : 8)
        let start = count > fieldSize / size ? (try? long(bytes, at: field, is64Bit: isBig)) : field
        var numbers: [Int] = []
        for index in 0..<min(count, 4) {
            guard let start, let number = try? number(bytes, size: size, at: start + index * size) else { break }
            numbers.append(number)
        }
        let tag = try short(bytes, at: entry)
        if let start, size == 1, mayHaveProfile, profile == nil, start <= bytes.byteCount - count,
            tag == TIFFDirectory.profileTag
        {
            profile = start..<start + count
        }
        if let start, tag == TIFFDirectory.tilesTag { tiles = Tiles(start: start, size: size, count: count) }
        return TIFFDirectory.Value(count: count, numbers: numbers)
    }

    /// Rejects JPEG tiles with unusually many scans, and tiles that overlap, because they take long to read.
    func checkScans(of tiles: Tiles, in bytes: RawSpan) throws(ImagingError) {
        let maximumScans = 50
        var seen: Set<Int> = []
        var walked = 0
        for index in 0..<tiles.count {
            guard let start = try? number(bytes, size: tiles.size, at: tiles.start + index * tiles.size) else { return }
            guard seen.insert(start).inserted else { continue }
            var offset = start + 2
            var scans = 0
            while let (marker, next) = bytes.jpegMarker(from: offset), marker != 0xD9,
                let end = bytes.jpegSegmentEnd(at: next)
            {
                scans += marker == 0xDA ? 1 : 0
                offset = end
                guard scans <= maximumScans, walked + offset - start <= 2 * bytes.byteCount else {
                    throw .cannotDecode(detail: "the TIFF file has JPEG tiles of too many scans, or that overlap")
                }
            }
            walked += offset - start
        }
    }

    private func number(_ bytes: RawSpan, size: Int, at offset: Int) throws(ImagingError) -> Int {
        switch size {
        case 1: try bytes.byte(at: offset)
        case 2: try short(bytes, at: offset)
        default: try long(bytes, at: offset, is64Bit: size == 8)
        }
    }

    private func short(_ bytes: RawSpan, at offset: Int) throws(ImagingError) -> Int {
        try bytes.integer16(at: offset, isLittleEndian: isLittleEndian)
    }

    private func long(_ bytes: RawSpan, at offset: Int, is64Bit: Bool) throws(ImagingError) -> Int {
        let first = try bytes.integer32(at: offset, isLittleEndian: isLittleEndian)
        guard is64Bit else { return first }
        let second = try bytes.integer32(at: offset + 4, isLittleEndian: isLittleEndian)
        let (high, low) = isLittleEndian ? (second, first) : (first, second)
        guard high < 1 << 16 else { throw .cannotDecode(detail: "a TIFF offset is beyond the end of any file") }
        return high << 32 | low
    }
}
