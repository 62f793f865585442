/// Reads the first directory of EXIF data: a TIFF file within the image file.
///
/// Its links to other directories are not followed, so nothing is read twice.
enum EXIFDirectory {
    /// The tag of the camera's maker, a text.
    static let make = 0x010F
    /// The tag of the camera's model, a text.
    static let model = 0x0110
    /// The tag of the time of the last change, a text.
    static let dateTime = 0x0132
    /// The tag of the orientation, a number.
    static let orientation = 0x0112
    /// The tag of the maker's name, a text.
    static let artist = 0x013B
    /// The tag of the rights, a text.
    static let copyright = 0x8298
    /// The type of texts.
    static let ascii = 2
    /// Bytes of an entry.
    static let entryLength = 12

    /// An entry of the directory.
    struct Entry {
        /// The number that gives the value its meaning.
        let tag: Int
        /// The type of the value.
        let type: Int
        /// Number of values of that type.
        let count: Int
        /// Offset of the value's field in the block.
        fileprivate let place: Int
        fileprivate let isLittleEndian: Bool
    }

    /// Calls `body` for each entry with the block that holds it, until it returns false.
    ///
    /// - Throws: ``ImagingError`` if the directory ends after the block, or what `body` throws.
    static func read(
        _ bytes: RawSpan, _ range: Range<Int>,
        _ body: (_ entry: Entry, _ block: RawSpan) throws(ImagingError) -> Bool
    ) throws(ImagingError) {
        guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount else { return }
        let start = bytes.hasText("Exif\0\0", at: range.lowerBound) ? range.lowerBound + 6 : range.lowerBound
        let block = bytes.extracting(min(start, range.upperBound)..<range.upperBound)
        let isLittleEndian = block.hasText("II*\0", at: 0)
        guard isLittleEndian || block.hasText("MM\0*", at: 0) else { return }
        let directory = try block.long(at: 4, isLittleEndian)
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
    /// The value of an entry of one number.
    func number(in block: RawSpan) throws(ImagingError) -> Int {
        try type == 3 ? block.short(at: place, isLittleEndian) : block.long(at: place, isLittleEndian)
    }

    /// The value of an entry of text, up to its final zeros; empty if it has another type or more than `longest` bytes.
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
