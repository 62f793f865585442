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
