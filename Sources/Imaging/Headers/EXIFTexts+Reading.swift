extension EXIFTexts {
    /// The texts in the first directory of EXIF data; nil if there are none, or if they cannot be read.
    ///
    /// The first entry of a tag counts. So each text is copied at most once, however many entries name it.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - range: The range of the EXIF data, with or without the leading `Exif` that JPEG has.
    init?(_ bytes: RawSpan, range: Range<Int>) {
        var longest = [
            EXIFDirectory.make: Self.longest, EXIFDirectory.model: Self.longest, EXIFDirectory.dateTime: Self.longest,
            EXIFDirectory.artist: Attribution.longest, EXIFDirectory.copyright: Attribution.longest,
        ]
        var texts: [Int: [UInt8]] = [:]
        // What was read before the damage counts.
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

    /// The texts in EXIF data that begin with the four bytes of an offset, which counts from their end (ISO/IEC
    /// 23008-12 annex A).
    init?(offset bytes: RawSpan, range: Range<Int>) {
        guard let offset = try? bytes.bigEndian32(at: range.lowerBound), offset <= range.count - 4 else { return nil }
        self.init(bytes, range: range.lowerBound + 4 + offset..<range.upperBound)
    }
}
