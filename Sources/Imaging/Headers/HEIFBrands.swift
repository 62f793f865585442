/// The brands that a file claims to conform to (ISO/IEC 14496-12 section 4.3).
enum HEIFBrands {
    /// How far a list of brands is read.
    private static let maximumLength = 256

    /// The format that the first known brand stands for; nil when the file starts with no brands or with none of a picture.
    ///
    /// The main brand comes first, then those that the file is compatible with: `mif1` alone says nothing about the coding.
    static func format(_ bytes: RawSpan) -> ImageFormat? {
        guard bytes.hasText("ftyp", at: 4), let length = try? bytes.bigEndian32(at: 0) else { return nil }
        var offset = 8
        while offset < min(length, maximumLength) {
            if bytes.hasText("avif", at: offset) || bytes.hasText("avis", at: offset) { return .avif }
            if ["heic", "heix", "heim", "heis", "hevc", "hevx"].contains(where: { bytes.hasText($0, at: offset) }) {
                return .heic
            }
            offset += 4
        }
        return nil
    }
}
