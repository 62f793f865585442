import CVipsShim
import Recipes

enum TIFFFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .parts(["II*\0", "MM\0*", "II+\0", "MM\0+"].map { [0: Array($0.utf8)] }),
            header: { bytes throws(ImagingError) in try TIFFHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadTiffBuffer", open: CVipsShim_load_tiff)),
            storedPage: { file, page throws(ImagingError) in try TIFFHeader.directory(ofPage: page, in: file) },
            warmUp: .file(sample), metadata: metadata))

    /// Finds metadata in the first directory of a file with 32-bit offsets.
    private static func metadata(_ bytes: RawSpan) -> MetadataParts {
        var parts = MetadataParts()
        try? EXIFDirectory.read(bytes, in: 0..<bytes.byteCount) { (entry, block) throws(ImagingError) in
            let size = [1: 1, 4: 4, 7: 1][entry.type] ?? 0
            guard entry.count * size > 4, let place = try? entry.place(in: block) else { return true }
            let range = place..<min(place + entry.count * size, block.byteCount)
            switch entry.tag {
            case 700: parts.addPacket(bytes, at: range)
            case 33_723: parts.records = range
            case 34_377: parts.records = parts.records ?? IPTCRecords.place(inResources: bytes, at: range)
            case 52_545: parts.hasManifest = true
            default: break
            }
            return true
        }
        return parts
    }

    /// One gray pixel, little-endian.
    private static let sample: [UInt8] = {
        let entries: [(tag: UInt8, type: UInt8, value: UInt8)] = [
            (0, 3, 1), (1, 3, 1), (2, 3, 8), (3, 3, 1), (6, 3, 1), (17, 4, 8), (21, 3, 1), (22, 3, 1), (23, 4, 1),
        ]
        let directory = entries.flatMap { [$0.tag, 1, $0.type, 0, 1, 0, 0, 0, $0.value, 0, 0, 0] as [UInt8] }
        return [0x49, 0x49, 42, 0, 10, 0, 0, 0, 128, 0, UInt8(entries.count), 0] + directory + [0, 0, 0, 0]
    }()
}

/// Reads the directories of all pages (TIFF 6.0, and BigTIFF with 64-bit offsets).
enum TIFFHeader {
    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        var file = try TIFFFile(bytes)
        var directories: [TIFFDirectory] = []
        while let directory = try file.next(in: bytes) { directories.append(directory) }
        directories = pages(of: directories).map { directories[$0] }
        guard let first = directories.first else { throw .cannotDecode(detail: "the TIFF file has no page") }
        let count = directories.count
        let isUniform = directories.allSatisfy { $0 == first }
        // An unsupported page gets a size of one pixel, so that other pages are accessible. EXIF texts are in the
        // first directory; they are not read from BigTIFF.
        let exif = EXIFTexts(bytes, range: 0..<bytes.byteCount)
        let profile = file.profile.flatMap { SourceColors(profile: bytes.extracting($0)) }
        let page = try first.header(pages: count, exif: exif).with(profile)
        if isUniform { return page }
        let pages = directories.map { directory in
            (try? directory.header(pages: count, exif: exif))
                ?? ImageHeader(format: .tiff, storedSize: PixelSize(width: 1, height: 1), frames: count)
        }
        var header = ImageHeader(
            format: .tiff, storedSize: page.storedSize, orientation: page.orientation, bands: page.bands,
            bitDepth: page.bitDepth, frames: count, hasAlpha: page.hasAlpha, profileByteCount: page.profileByteCount,
            exif: exif)
        header.pages = pages
        header.colors = page.colors
        return header
    }

    /// - Throws: ``ImagingError/cannotDecode(detail:)`` if JPEG tiles have too many scans, because libvips reads all.
    static func directory(ofPage page: Int, in bytes: RawSpan) throws(ImagingError) -> Int {
        guard var file = try? TIFFFile(bytes) else { return page }
        var directories: [TIFFDirectory] = []
        var tiles: [TIFFFile.Tiles?] = []
        while let directory = try? file.next(in: bytes) {
            directories.append(directory)
            tiles.append(file.tiles)
        }
        let pages = pages(of: directories)
        guard pages.indices ~= page else { return page }
        let index = pages[page]
        if directories[index].isJPEG, let tiles = tiles[index] { try file.checkScans(of: tiles, in: bytes) }
        return index
    }

    private static func pages(of directories: [TIFFDirectory]) -> [Int] {
        let originals = directories.indices.filter { !directories[$0].isCopy }
        return originals.isEmpty ? Array(directories.indices) : originals
    }
}

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
        offset = try long(bytes, at: isBig ? 8 : 4, isWide: isBig)
    }

    mutating func next(in bytes: RawSpan) throws(ImagingError) -> TIFFDirectory? {
        guard offset != 0 else { return nil }
        let count = try isBig ? long(bytes, at: offset, isWide: true) : short(bytes, at: offset)
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
        offset = (try? long(bytes, at: start + count * length, isWide: isBig)) ?? 0
        return directory
    }

    /// Reads the number of values, at most the file's bytes, and up to four values.
    private mutating func value(
        _ bytes: RawSpan, at entry: Int, mayHaveProfile: Bool
    ) throws(ImagingError) -> TIFFDirectory.Value {
        let type = try short(bytes, at: entry + 2)
        let count = min(try long(bytes, at: entry + 4, isWide: isBig), bytes.byteCount)
        guard let size = Self.sizes[type] else { return TIFFDirectory.Value(count: count, numbers: []) }
        let fieldSize = isBig ? 8 : 4
        let field = entry + (isBig ? 12 : 8)
        let start = count > fieldSize / size ? (try? long(bytes, at: field, isWide: isBig)) : field
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
    fileprivate func checkScans(of tiles: Tiles, in bytes: RawSpan) throws(ImagingError) {
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
        default: try long(bytes, at: offset, isWide: size == 8)
        }
    }

    private func short(_ bytes: RawSpan, at offset: Int) throws(ImagingError) -> Int {
        try bytes.integer16(at: offset, isLittleEndian: isLittleEndian)
    }

    private func long(_ bytes: RawSpan, at offset: Int, isWide: Bool) throws(ImagingError) -> Int {
        let first = try bytes.integer32(at: offset, isLittleEndian: isLittleEndian)
        guard isWide else { return first }
        let second = try bytes.integer32(at: offset + 4, isLittleEndian: isLittleEndian)
        let (high, low) = isLittleEndian ? (second, first) : (first, second)
        guard high < 1 << 16 else { throw .cannotDecode(detail: "a TIFF offset is beyond the end of any file") }
        return high << 32 | low
    }
}
