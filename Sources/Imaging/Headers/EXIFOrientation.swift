/// Reads the orientation out of EXIF data, the only tag that is used.
enum EXIFOrientation {
    private static let tag = 0x0112
    private static let entryLength = 12

    /// The value of the orientation tag in the first directory; 1 if there is none, or if it cannot be read.
    ///
    /// An image with damaged metadata is still an image, so nothing here is an error.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - range: The range of the EXIF data, with or without the leading `Exif` that JPEG has.
    static func value(in bytes: RawSpan, range: Range<Int>) -> Int {
        (try? read(bytes, range)) ?? 1
    }

    private static func read(_ bytes: RawSpan, _ range: Range<Int>) throws(ImagingError) -> Int? {
        guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount else { return nil }
        let start = bytes.hasText("Exif\0\0", at: range.lowerBound) ? range.lowerBound + 6 : range.lowerBound
        let block = bytes.extracting(min(start, range.upperBound)..<range.upperBound)
        let isLittleEndian = block.hasText("II*\0", at: 0)
        guard isLittleEndian || block.hasText("MM\0*", at: 0) else { return nil }
        func short(at offset: Int) throws(ImagingError) -> Int {
            try isLittleEndian ? block.littleEndian16(at: offset) : block.bigEndian16(at: offset)
        }
        func long(at offset: Int) throws(ImagingError) -> Int {
            try isLittleEndian ? block.littleEndian32(at: offset) : block.bigEndian32(at: offset)
        }

        let directory = try long(at: 4)
        for index in 0..<(try short(at: directory)) {
            let entry = directory + 2 + index * entryLength
            guard try short(at: entry) == tag else { continue }
            let isShort = try short(at: entry + 2) == 3
            let value = try isShort ? short(at: entry + 8) : long(at: entry + 8)
            return (1...8).contains(value) ? value : nil
        }
        return nil
    }
}
