import Memory
import Recipes

/// The first directory of EXIF data, which are a TIFF file within the image file.
///
/// Follows only the links to color information, so that nothing is read twice.
enum EXIFDirectory {
    static let make = 0x010F
    static let model = 0x0110
    static let dateTime = 0x0132
    static let orientation = 0x0112
    static let artist = 0x013B
    static let copyright = 0x8298
    /// The offset of the EXIF directory, which the standard calls a sub-IFD.
    static let exifIFD = 0x8769
    static let makerNote = 0x927C
    fileprivate static let colorSpace = 0xA001
    fileprivate static let interoperability = 0xA005
    static let ascii = 2
    static let entryLength = 12

    struct Entry {
        let tag: Int
        let type: Int
        let count: Int
        /// The offset of the value, or of its offset if it is longer than four bytes.
        fileprivate let field: Int
        fileprivate let isLittleEndian: Bool
    }

    /// Calls `body` with each entry until it returns false.
    ///
    /// - Parameter directoryOffset: The offset of the directory in the block; nil for the first one.
    static func read(
        _ bytes: RawSpan, in range: Range<Int>, at directoryOffset: Int? = nil,
        _ body: (_ entry: Entry, _ block: RawSpan) throws(ImagingError) -> Bool
    ) throws(ImagingError) {
        guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount else { return }
        let start = bytes.hasText("Exif\0\0", at: range.lowerBound) ? range.lowerBound + 6 : range.lowerBound
        let block = bytes.extracting(min(start, range.upperBound)..<range.upperBound)
        let isLittleEndian = block.hasText("II*\0", at: 0)
        guard isLittleEndian || block.hasText("MM\0*", at: 0) else { return }
        let first = try block.integer32(at: 4, isLittleEndian: isLittleEndian)
        let directory = directoryOffset ?? first
        for index in 0..<(try block.integer16(at: directory, isLittleEndian: isLittleEndian)) {
            let offset = directory + 2 + index * entryLength
            let entry = try Entry(
                tag: block.integer16(at: offset, isLittleEndian: isLittleEndian),
                type: block.integer16(at: offset + 2, isLittleEndian: isLittleEndian),
                count: block.integer32(at: offset + 4, isLittleEndian: isLittleEndian), field: offset + 8,
                isLittleEndian: isLittleEndian)
            guard try body(entry, block) else { return }
        }
    }

    static func number(_ tag: Int, of bytes: RawSpan, in range: Range<Int>, at directoryOffset: Int? = nil) -> Int? {
        var number: Int?
        try? read(bytes, in: range, at: directoryOffset) { (entry, block) throws(ImagingError) in
            guard entry.tag == tag else { return true }
            number = try entry.number(in: block)
            return false
        }
        return number
    }
}

extension EXIFDirectory.Entry {
    func number(in block: RawSpan) throws(ImagingError) -> Int {
        try type == 3
            ? block.integer16(at: field, isLittleEndian: isLittleEndian)
            : block.integer32(at: field, isLittleEndian: isLittleEndian)
    }

    func valueOffset(in block: RawSpan) throws(ImagingError) -> Int {
        let offset = try block.integer32(at: field, isLittleEndian: isLittleEndian)
        _ = try block.byte(at: offset)
        return offset
    }

    func long(in block: RawSpan, at offset: Int) throws(ImagingError) -> Int {
        try block.integer32(
            at: block.integer32(at: field, isLittleEndian: isLittleEndian) + offset, isLittleEndian: isLittleEndian)
    }

    /// Returns a text without trailing null bytes; empty for other types or more than `longest` bytes.
    func text(in block: RawSpan, longest: Int) throws(ImagingError) -> [UInt8] {
        guard type == EXIFDirectory.ascii, 1...longest + 1 ~= count else { return [] }
        let start = count <= 4 ? field : try block.integer32(at: field, isLittleEndian: isLittleEndian)
        var text: [UInt8] = []
        for offset in 0..<count { text.append(UInt8(try block.byte(at: start + offset))) }
        while text.last == 0 { text.removeLast() }
        return text.count <= longest ? text : []
    }
}

/// Facts from EXIF data, with or without the leading `Exif` of JPEG.
struct EXIFFacts {
    /// The turn; none if it is unreadable, because an image with damaged metadata is still an image.
    let turn: QuarterTurn
    let texts: EXIFTexts?

    init(_ bytes: RawSpan, range: Range<Int>) {
        turn =
            EXIFDirectory.number(EXIFDirectory.orientation, of: bytes, in: range).flatMap { QuarterTurn(exif: $0) }
            ?? .none
        texts = EXIFTexts(bytes, range: range)
    }
}

extension EXIFTexts {
    /// Reads the first entry of each tag, so that each text is copied at most once.
    init?(_ bytes: RawSpan, range: Range<Int>) {
        var longest = [
            EXIFDirectory.make: Self.maximumLength, EXIFDirectory.model: Self.maximumLength,
            EXIFDirectory.dateTime: Self.maximumLength,
            EXIFDirectory.artist: Attribution.maximumLength, EXIFDirectory.copyright: Attribution.maximumLength,
        ]
        var texts: [Int: [UInt8]] = [:]
        // Keep the values before any damage.
        try? EXIFDirectory.read(bytes, in: range) { (entry, block) throws(ImagingError) in
            guard let maximum = longest.removeValue(forKey: entry.tag) else { return true }
            texts[entry.tag] = try entry.text(in: block, longest: maximum)
            return !longest.isEmpty
        }
        self.init(
            make: texts[EXIFDirectory.make] ?? [], model: texts[EXIFDirectory.model] ?? [],
            dateTime: texts[EXIFDirectory.dateTime] ?? [],
            attribution: Attribution(
                artist: texts[EXIFDirectory.artist] ?? [], copyright: texts[EXIFDirectory.copyright] ?? []))
    }

    /// Reads data after a four-byte offset, which is relative to its end (ISO/IEC 23008-12 annex A).
    init?(offset bytes: RawSpan, range: Range<Int>) {
        guard let offset = try? bytes.bigEndian32(at: range.lowerBound), offset <= range.count - 4 else { return nil }
        self.init(bytes, range: range.lowerBound + 4 + offset..<range.upperBound)
    }
}

extension SourceColors {
    /// Adobe RGB as marked by DCF 2.0; nil for other color spaces.
    init?(exif bytes: RawSpan, range: Range<Int>) {
        guard let exifIFD = EXIFDirectory.number(EXIFDirectory.exifIFD, of: bytes, in: range),
            let space = EXIFDirectory.number(EXIFDirectory.colorSpace, of: bytes, in: range, at: exifIFD), space != 1
        else { return nil }
        var isAdobeRGB = space == 2
        if let directory = EXIFDirectory.number(EXIFDirectory.interoperability, of: bytes, in: range, at: exifIFD) {
            try? EXIFDirectory.read(bytes, in: range, at: directory) { (entry, block) throws(ImagingError) in
                guard entry.tag == 1 else { return true }
                isAdobeRGB = try entry.text(in: block, longest: 8) == Array("R03".utf8)
                return false
            }
        }
        guard isAdobeRGB else { return nil }
        self = .adobeRGB
    }

    static let adobeRGB = SourceColors(ColorEncoding(.adobeRGB, transfer: .power(219_922)))
}

extension Attribution {
    /// EXIF data of one or two entries, without the leading `Exif`.
    var exif: [UInt8] {
        let entries = [(EXIFDirectory.artist, artist), (EXIFDirectory.copyright, copyright)].filter { !$0.1.isEmpty }
        var bytes = Array("II*\0".utf8) + 8.littleEndianBytes(4) + entries.count.littleEndianBytes(2)
        var rest: [UInt8] = []
        let end = bytes.count + entries.count * EXIFDirectory.entryLength + 4
        for (tag, text) in entries {
            let value = text + [0]
            bytes +=
                tag.littleEndianBytes(2) + EXIFDirectory.ascii.littleEndianBytes(2) + value.count.littleEndianBytes(4)
            if value.count <= 4 {
                bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
            } else {
                bytes += (end + rest.count).littleEndianBytes(4)
                rest += value + [UInt8](repeating: 0, count: value.count % 2)
            }
        }
        return bytes + 0.littleEndianBytes(4) + rest
    }
}
