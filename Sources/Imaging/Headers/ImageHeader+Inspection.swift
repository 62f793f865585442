package import Memory

extension ImageHeader {
    /// Reads what the head of a file says, without decoding anything and without a C library.
    ///
    /// Takes time in proportion to the number of the file's segments, not of its pixels, whatever the file claims.
    /// - Throws: ``ImagingError/notAnImage`` for unknown leading bytes, ``ImagingError/cannotDecode(detail:)`` for a damaged
    ///   head.
    package static func inspect(_ bytes: SharedBytes) throws(ImagingError) -> ImageHeader {
        try bytes.withBytes { span throws(ImagingError) in
            guard let format = sniff(span) else { throw .notAnImage }
            return try format.reading.header(span)
        }
    }

    /// The format by the leading bytes alone, whatever name or media type the file came with.
    package static func sniff(_ bytes: RawSpan) -> ImageFormat? {
        ImageFormat.allCases.first { $0.reading.leadingBytes.begin(bytes) } ?? HEIFBrands.format(bytes)
    }
}

extension FormatTraits.LeadingBytes {
    /// Whether a file begins so; brands are compared elsewhere, because the first known one of all formats counts.
    fileprivate func begin(_ file: RawSpan) -> Bool {
        switch self {
        case .parts(let alternatives):
            alternatives.contains { parts in parts.allSatisfy { file.hasBytes($0.value, at: $0.key) } }
        case .brands: false
        }
    }
}

/// The brands that a file claims to conform to (ISO/IEC 14496-12 section 4.3).
private enum HEIFBrands {
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
