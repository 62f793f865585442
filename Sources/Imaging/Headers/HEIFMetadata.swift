/// Finds the EXIF data of a HEIF file: an item of its own, somewhere in the file (ISO/IEC 23008-12 annex A).
enum HEIFMetadata {
    /// Most items whose types or places are read.
    private static let mostItems = 20_000

    /// Texts of the first item of EXIF data; nil without one.
    ///
    /// Damage costs at most the texts.
    ///
    /// - Parameter meta: The range of the contents of the `meta` box.
    static func texts(_ bytes: RawSpan, meta: Range<Int>) -> EXIFTexts? {
        var (information, places, data): (Range<Int>?, Range<Int>?, Range<Int>?)
        var boxes = BoxCursor(meta.dropFirst(4))
        while let box = try? boxes.next(in: bytes) {
            switch box.type {
            case BoxCursor.type("iinf"): information = information ?? box.contents
            case BoxCursor.type("iloc"): places = places ?? box.contents
            case BoxCursor.type("idat"): data = data ?? box.contents
            default: break
            }
        }
        guard let information, let places, let item = try? exifItem(bytes, in: information),
            let place = try? place(of: item, bytes, in: places)
        else { return nil }
        let room = place.isInMeta ? data ?? 0..<0 : 0..<bytes.byteCount
        guard place.offset <= room.count, place.length <= room.count - place.offset else { return nil }
        let start = room.lowerBound + place.offset
        return EXIFTexts(offset: bytes, range: start..<start + place.length)
    }

    /// The number of the first item of EXIF data (`iinf`, ISO/IEC 14496-12 section 8.11.6); nil without one.
    private static func exifItem(_ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) -> Int? {
        let isShort = try bytes.byte(at: range.lowerBound) == 0
        var boxes = BoxCursor(range.dropFirst(isShort ? 6 : 8))
        for _ in 0..<mostItems {
            guard let box = try boxes.next(in: bytes) else { return nil }
            let start = box.contents.lowerBound
            // Items have a type from version 2 on; version 3 has wider numbers.
            guard box.type == BoxCursor.type("infe"), case let version = try bytes.byte(at: start), version >= 2 else {
                continue
            }
            let type = start + (version == 2 ? 8 : 10)
            guard type + 4 <= box.contents.upperBound, bytes.hasText("Exif", at: type) else { continue }
            return try version == 2 ? bytes.bigEndian16(at: start + 4) : bytes.bigEndian32(at: start + 4)
        }
        return nil
    }

    /// Where an item lies: from the start of the file, or of the `idat` box.
    private struct Place {
        let offset: Int
        let length: Int
        let isInMeta: Bool
    }

    /// The place of an item (`iloc`, ISO/IEC 14496-12 section 8.11.3); nil for one in several parts or in another item.
    private static func place(of item: Int?, _ bytes: RawSpan, in range: Range<Int>) throws(ImagingError) -> Place? {
        guard let item else { return nil }
        var reader = NumberReader(offset: range.lowerBound)
        let version = try reader.number(1, bytes)
        _ = try reader.number(3, bytes)
        let sizes = try reader.number(2, bytes)
        let (offsetSize, lengthSize, baseSize) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
        let indexSize = version == 0 ? 0 : sizes & 15
        let count = try reader.number(version < 2 ? 2 : 4, bytes)
        for _ in 0..<min(count, mostItems) {
            let number = try reader.number(version < 2 ? 2 : 4, bytes)
            let method = try version == 0 ? 0 : reader.number(2, bytes) & 15
            let isHere = try reader.number(2, bytes) == 0
            let base = try reader.number(baseSize, bytes)
            let parts = try reader.number(2, bytes)
            guard number == item else {
                reader.skip(parts * (indexSize + offsetSize + lengthSize))
                continue
            }
            guard parts == 1, isHere, method <= 1 else { return nil }
            _ = try reader.number(indexSize, bytes)
            let offset = try base + reader.number(offsetSize, bytes)
            return Place(offset: offset, length: try reader.number(lengthSize, bytes), isInMeta: method == 1)
        }
        return nil
    }
}

/// Reads numbers of 0 to 8 bytes one after the other.
private struct NumberReader {
    private var offset: Int

    init(offset: Int) {
        self.offset = offset
    }

    /// The number in the next `count` bytes, of which the first is the most significant.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for a number that no file's offset can have.
    mutating func number(_ count: Int, _ bytes: RawSpan) throws(ImagingError) -> Int {
        var number = 0
        for _ in 0..<count {
            guard number < 1 << 48 else { throw .cannotDecode(detail: "a number is larger than any file") }
            number = try number << 8 | bytes.byte(at: offset)
            offset += 1
        }
        return number
    }

    mutating func skip(_ count: Int) { offset += count }
}
