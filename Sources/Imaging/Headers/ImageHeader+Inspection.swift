package import Memory

extension ImageHeader {
    /// Reads what the head of a file says, without decoding anything and without a C library.
    ///
    /// Takes time in proportion to the number of the file's segments, not of its pixels, whatever the file claims.
    /// - Throws: ``ImagingError/notAnImage`` for unknown leading bytes, ``ImagingError/cannotDecode(detail:)`` for a damaged
    ///   head.
    package static func inspect(_ bytes: SharedBytes) throws(ImagingError) -> ImageHeader {
        try bytes.withBytes { span throws(ImagingError) in
            switch sniff(span) {
            case .jpeg: try jpeg(span)
            case .png: try png(span)
            case .webp: try webp(span)
            case .gif: try gif(span)
            case .avif: try heif(span, format: .avif)
            case .heic: try heif(span, format: .heic)
            case nil: throw .notAnImage
            }
        }
    }

    /// The format by the leading bytes alone, whatever name or media type the file came with.
    package static func sniff(_ bytes: RawSpan) -> ImageFormat? {
        if (try? bytes.bigEndian16(at: 0)) == 0xFFD8, (try? bytes.byte(at: 2)) == 0xFF { return .jpeg }
        if (try? bytes.byte(at: 0)) == 0x89, bytes.hasText("PNG\r\n\u{1A}\n", at: 1) { return .png }
        if bytes.hasText("RIFF", at: 0), bytes.hasText("WEBP", at: 8) { return .webp }
        if bytes.hasText("GIF87a", at: 0) || bytes.hasText("GIF89a", at: 0) { return .gif }
        return HEIFBrands.format(bytes)
    }
}
