import Recipes

/// A TIFF directory (TIFF 6.0 section 2), also in files with a different signature.
struct RAWDirectory {
    enum Tag {
        static let width = 256
        static let height = 257
        static let compression = 259
        static let photometric = 262
        static let strips = 273
        static let stripLengths = 279
        static let tiles = 324
        static let tileLengths = 325
        static let preview = 0x201
        static let previewLength = 0x202
        static let children = 330
        static let tables = 347
        static let packet = 700
        static let records = 33_723
        static let space = 0xA001
        static let interoperability = 0xA005
        static let version = 0xC612
        /// Panasonic's tags.
        static let sensorWidth = 2
        static let sensorHeight = 3
        static let file = 46
    }

    struct Entry {
        let type, count: Int
        /// The value or its address.
        let field: [UInt8]
    }

    private var entries: [Int: Entry] = [:]
    /// Addresses are relative to this offset.
    let base: Int
    let isLittleEndian: Bool
    private(set) var next = 0

    private static let maximumEntries = 1_024
    /// Bytes per value by type: BYTE, ASCII, SHORT, LONG, UNDEFINED, IFD.
    private static let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 7: 1, 13: 4]

    init(at address: Int, base: Int, isLittleEndian: Bool, in bytes: RawSpan) throws(ImagingError) {
        self.base = base
        self.isLittleEndian = isLittleEndian
        let start = base + address
        let count = try bytes.checkedArray(start..<start + 2).short(0, isLittleEndian: isLittleEndian)
        guard 1...Self.maximumEntries ~= count else { throw .cannotDecode(detail: "a directory of \(count) entries") }
        let end = start + 2 + 12 * count
        let table = try bytes.checkedArray(start + 2..<end)
        for entry in stride(from: 0, to: 12 * count, by: 12) {
            let tag = table.short(entry, isLittleEndian: isLittleEndian)
            guard entries[tag] == nil else { continue }
            entries[tag] = Entry(
                type: table.short(entry + 2, isLittleEndian: isLittleEndian),
                count: table.long(entry + 4, isLittleEndian: isLittleEndian),
                field: Array(table[entry + 8..<entry + 12]))
        }
        // Some files end after the last entry.
        next = (try? bytes.checkedArray(end..<end + 4))?.long(0, isLittleEndian: isLittleEndian) ?? 0
    }

    /// Reads the first directory of a block that begins with a TIFF header.
    init(ofBlock base: Int, in bytes: RawSpan) throws(ImagingError) {
        let start = try bytes.checkedArray(base..<base + 8)
        let isLittleEndian = start.hasText("II")
        try self.init(
            at: start.long(4, isLittleEndian: isLittleEndian), base: base, isLittleEndian: isLittleEndian, in: bytes)
    }

    func has(_ tag: Int) -> Bool { entries[tag] != nil }

    /// Returns a number; nil if the entry does not have exactly one value.
    func number(_ tag: Int) -> Int? {
        guard let entry = entries[tag], entry.count == 1, let size = Self.sizes[entry.type] else { return nil }
        return entry.field.number(0..<size, isLittleEndian: isLittleEndian)
    }

    /// Returns the range of a value in the file; nil for other types.
    func range(_ tag: Int) -> Range<Int>? {
        guard let entry = entries[tag], let size = Self.sizes[entry.type], entry.count * size > 4 else { return nil }
        let start = base + entry.field.long(0, isLittleEndian: isLittleEndian)
        return start..<start + entry.count * size
    }

    func value(_ tag: Int, atMost limit: Int, in bytes: RawSpan) -> [UInt8]? {
        guard let entry = entries[tag], let size = Self.sizes[entry.type] else { return nil }
        guard let range = range(tag) else { return Array(entry.field.prefix(entry.count * size)) }
        return try? bytes.checkedArray(range.prefix(limit))
    }

    func numbers(_ tag: Int, atMost limit: Int, in bytes: RawSpan) -> [Int] {
        guard let size = entries[tag].flatMap({ Self.sizes[$0.type] }),
            let value = value(tag, atMost: limit * size, in: bytes)
        else { return [] }
        return stride(from: 0, to: value.count - size + 1, by: size).map {
            value.number($0..<$0 + size, isLittleEndian: isLittleEndian)
        }
    }

    /// Returns a text without trailing null bytes; empty if absent or too long.
    func text(_ tag: Int, longest: Int, in bytes: RawSpan) -> [UInt8] {
        guard let entry = entries[tag], entry.type == EXIFDirectory.ascii, entry.count <= longest + 1,
            var text = value(tag, atMost: longest + 1, in: bytes)
        else { return [] }
        while text.last == 0 { text.removeLast() }
        return text.count <= longest ? text : []
    }

    func texts(_ bytes: RawSpan) -> EXIFTexts? {
        let longest = (text: EXIFTexts.maximumLength, attribution: Attribution.maximumLength)
        return EXIFTexts(
            make: text(EXIFDirectory.make, longest: longest.text, in: bytes),
            model: text(EXIFDirectory.model, longest: longest.text, in: bytes),
            dateTime: text(EXIFDirectory.dateTime, longest: longest.text, in: bytes),
            attribution: Attribution(
                artist: text(EXIFDirectory.artist, longest: longest.attribution, in: bytes),
                copyright: text(EXIFDirectory.copyright, longest: longest.attribution, in: bytes)))
    }

    /// Returns the size; nil if missing or implausible.
    func size(_ width: Int = Tag.width, _ height: Int = Tag.height) -> PixelSize? {
        guard let width = number(width), let height = number(height) else { return nil }
        return PixelSize(width: width, height: height).plausible
    }
}

extension PixelSize {
    var plausible: PixelSize? { isPlausible(upTo: 1 << 24) ? self : nil }
}
