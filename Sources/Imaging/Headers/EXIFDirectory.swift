/// Reads the first directory of EXIF data, a TIFF file within the image file.
///
/// Only the links to color information are followed, so nothing is read twice.
enum EXIFDirectory {
    static let make = 0x010F
    static let model = 0x0110
    static let dateTime = 0x0132
    static let orientation = 0x0112
    static let artist = 0x013B
    static let copyright = 0x8298
    static let exposure = 0x8769
    /// The tag of the maker notes, in the exposure directory.
    static let notes = 0x927C
    /// The tags of the color space and of the interoperability directory, in the exposure directory.
    fileprivate static let (space, interoperability) = (0xA001, 0xA005)
    static let ascii = 2
    static let entryLength = 12

    struct Entry {
        let tag: Int
        let type: Int
        let count: Int
        /// Offset of the value's field in the block.
        fileprivate let place: Int
        fileprivate let isLittleEndian: Bool
    }

    /// Calls `body` for each entry with its block, until it returns false.
    ///
    /// - Parameter place: The offset of the directory in the block; nil for the first one.
    /// - Throws: ``ImagingError`` if the directory extends beyond the block, or the error of `body`.
    static func read(
        _ bytes: RawSpan, _ range: Range<Int>, at place: Int? = nil,
        _ body: (_ entry: Entry, _ block: RawSpan) throws(ImagingError) -> Bool
    ) throws(ImagingError) {
        guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount else { return }
        let start = bytes.hasText("Exif\0\0", at: range.lowerBound) ? range.lowerBound + 6 : range.lowerBound
        let block = bytes.extracting(min(start, range.upperBound)..<range.upperBound)
        let isLittleEndian = block.hasText("II*\0", at: 0)
        guard isLittleEndian || block.hasText("MM\0*", at: 0) else { return }
        let first = try block.long(at: 4, isLittleEndian)
        let directory = place ?? first
        for index in 0..<(try block.short(at: directory, isLittleEndian)) {
            let place = directory + 2 + index * entryLength
            let entry = Entry(
                tag: try block.short(at: place, isLittleEndian), type: try block.short(at: place + 2, isLittleEndian),
                count: try block.long(at: place + 4, isLittleEndian), place: place + 8, isLittleEndian: isLittleEndian)
            guard try body(entry, block) else { return }
        }
    }
}

extension EXIFDirectory.Entry {
    func number(in block: RawSpan) throws(ImagingError) -> Int {
        try type == 3 ? block.short(at: place, isLittleEndian) : block.long(at: place, isLittleEndian)
    }

    /// Returns the offset of a value longer than four bytes.
    ///
    /// - Throws: ``ImagingError`` if it is not within the block.
    func place(in block: RawSpan) throws(ImagingError) -> Int {
        let place = try block.long(at: place, isLittleEndian)
        _ = try block.byte(at: place)
        return place
    }

    /// Returns a four-byte number within a value longer than four bytes.
    func long(in block: RawSpan, at offset: Int) throws(ImagingError) -> Int {
        try block.long(at: block.long(at: place, isLittleEndian) + offset, isLittleEndian)
    }

    /// Returns a text without trailing zeros; empty if the entry has another type or more than `longest` bytes.
    func text(in block: RawSpan, longest: Int) throws(ImagingError) -> [UInt8] {
        guard type == EXIFDirectory.ascii, 1...longest + 1 ~= count else { return [] }
        let start = count <= 4 ? place : try block.long(at: place, isLittleEndian)
        var text: [UInt8] = []
        for offset in 0..<count { text.append(UInt8(try block.byte(at: start + offset))) }
        while text.last == 0 { text.removeLast() }
        return text.count <= longest ? text : []
    }
}

extension RawSpan {
    fileprivate func short(at offset: Int, _ isLittleEndian: Bool) throws(ImagingError) -> Int {
        try isLittleEndian ? littleEndian16(at: offset) : bigEndian16(at: offset)
    }

    fileprivate func long(at offset: Int, _ isLittleEndian: Bool) throws(ImagingError) -> Int {
        try isLittleEndian ? littleEndian32(at: offset) : bigEndian32(at: offset)
    }
}

extension QuarterTurn {
    /// Reads the orientation in the first directory of EXIF data; none if it is unreadable, because an image with
    /// damaged metadata is still an image.
    ///
    /// - Parameter range: The range of the EXIF data, with or without the leading `Exif` of JPEG.
    init(exif bytes: RawSpan, range: Range<Int>) {
        var orientation = QuarterTurn.none
        try? EXIFDirectory.read(bytes, range) { (entry, block) throws(ImagingError) in
            guard entry.tag == EXIFDirectory.orientation else { return true }
            if let turn = QuarterTurn(exif: try entry.number(in: block)) { orientation = turn }
            return false
        }
        self = orientation
    }
}

extension EXIFTexts {
    /// Reads the texts in the first directory of EXIF data; nil if there are none, or if they are unreadable.
    ///
    /// The first entry of a tag counts, so that each text is copied at most once, regardless of the number of entries.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - range: The range of the EXIF data, with or without the leading `Exif` of JPEG.
    init?(_ bytes: RawSpan, range: Range<Int>) {
        var longest = [
            EXIFDirectory.make: Self.longest, EXIFDirectory.model: Self.longest, EXIFDirectory.dateTime: Self.longest,
            EXIFDirectory.artist: Attribution.longest, EXIFDirectory.copyright: Attribution.longest,
        ]
        var texts: [Int: [UInt8]] = [:]
        // Values before the damage count.
        try? EXIFDirectory.read(bytes, range) { (entry, block) throws(ImagingError) in
            guard let most = longest.removeValue(forKey: entry.tag) else { return true }
            texts[entry.tag] = try entry.text(in: block, longest: most)
            return !longest.isEmpty
        }
        self.init(
            make: texts[EXIFDirectory.make] ?? [], model: texts[EXIFDirectory.model] ?? [],
            dateTime: texts[EXIFDirectory.dateTime] ?? [],
            attribution: Attribution(
                artist: texts[EXIFDirectory.artist] ?? [], copyright: texts[EXIFDirectory.copyright] ?? []))
    }

    /// Reads the texts in EXIF data after a four-byte offset, which counts from its own end (ISO/IEC 23008-12 annex A).
    init?(offset bytes: RawSpan, range: Range<Int>) {
        guard let offset = try? bytes.bigEndian32(at: range.lowerBound), offset <= range.count - 4 else { return nil }
        self.init(bytes, range: range.lowerBound + 4 + offset..<range.upperBound)
    }
}

extension SourceColors {
    /// Reads the color space in EXIF data: Adobe RGB as marked by DCF 2.0; nil for all others.
    init?(exif bytes: RawSpan, range: Range<Int>) {
        func number(_ tag: Int, in directory: Int?) -> Int? {
            var number: Int?
            try? EXIFDirectory.read(bytes, range, at: directory) { (entry, block) throws(ImagingError) in
                guard entry.tag == tag else { return true }
                number = try entry.number(in: block)
                return false
            }
            return number
        }
        guard let exposure = number(EXIFDirectory.exposure, in: nil),
            let space = number(EXIFDirectory.space, in: exposure), space != 1
        else { return nil }
        var isWide = space == 2
        if let directory = number(EXIFDirectory.interoperability, in: exposure) {
            try? EXIFDirectory.read(bytes, range, at: directory) { (entry, block) throws(ImagingError) in
                guard entry.tag == 1 else { return true }
                isWide = try entry.text(in: block, longest: 8) == Array("R03".utf8)
                return false
            }
        }
        guard isWide else { return nil }
        self.init(ColorEncoding(.adobeRGB, .power(219_922)))
    }
}
