/// The brands that a file claims to conform to (ISO/IEC 14496-12 section 4.3).
enum HEIFBrands {
    /// The formats that are told by brands, with theirs.
    private static let brands = ImageFormat.allCases.compactMap { format -> (ImageFormat, [StaticString])? in
        if case .brands(let brands) = format.reading.leadingBytes { (format, brands) } else { nil }
    }

    /// How far a list of brands is read.
    private static let maximumLength = 256

    /// The format that the first known brand stands for; nil when the file starts with no brands or with none of a picture.
    ///
    /// The main brand comes first, then those that the file is compatible with: `mif1` alone says nothing about the coding.
    static func format(_ bytes: RawSpan) -> ImageFormat? {
        guard bytes.hasText("ftyp", at: 4), let length = try? bytes.bigEndian32(at: 0) else { return nil }
        var offset = 8
        while offset < min(length, maximumLength) {
            for (format, brands) in brands where brands.contains(where: { bytes.hasText($0, at: offset) }) {
                return format
            }
            offset += 4
        }
        return nil
    }
}
