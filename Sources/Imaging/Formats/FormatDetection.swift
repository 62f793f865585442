package import Memory
package import Recipes

extension ImageHeader {
    /// Reads the header of a file without decoding pixels or calling C libraries.
    ///
    /// The time depends on the number of segments in the file, not on the pixels that its header claims.
    package static func inspect(_ bytes: SharedBytes) throws(ImagingError) -> ImageHeader {
        try bytes.withBytes { span throws(ImagingError) in
            guard let format = sniff(span) else { throw .notAnImage }
            return try format.decoding.header(span).with(format.decoding.metadata(span), in: span)
        }
    }

    /// Reads the header from the beginning of a file; nil if that requires the whole file.
    ///
    /// Unlike ``inspect(_:)``, gives lower bounds of decode costs, and does not find some damage after the header.
    package static func outline(_ span: RawSpan) throws(ImagingError) -> ImageHeader? {
        guard let format = sniff(span) else { throw .notAnImage }
        guard let outline = format.decoding.outline else {
            return try format.decoding.header(span).with(format.decoding.metadata(span), in: span)
        }
        guard let (header, metadata) = try outline(span) else { return nil }
        return header.with(metadata, in: span)
    }

    private func with(_ metadata: EmbeddedMetadata, in span: RawSpan) -> ImageHeader {
        // The header already has the rights of a photograph with a preview.
        if preview != nil { return self }
        var header = self
        header.rights = SourceRights(span, of: metadata, exif: exif?.attribution)
        return header
    }

    package static func sniff(_ bytes: RawSpan) -> ImageFormat? {
        ImageFormat.allCases.first { $0.decoding.leadingBytes.isContents(bytes) }
            ?? ImageFormat.allCases.first { $0.decoding.leadingBytes.begin(bytes) } ?? HEIFBrands.format(bytes)
            ?? ImageFormat.allCases.first { $0.decoding.leadingBytes.isMarkup(bytes) }
    }
}

extension FormatCodec.LeadingBytes {
    /// `ftyp` brands are handled by `HEIFBrands`: the first known brand decides between formats.
    fileprivate func begin(_ file: RawSpan) -> Bool {
        switch self {
        case .signatures(let alternatives):
            alternatives.contains { signature in signature.allSatisfy { file.hasBytes($0.value, at: $0.key) } }
        case .brands, .markup, .contents: false
        }
    }

    fileprivate func isContents(_ file: RawSpan) -> Bool {
        if case .contents(let recognizes) = self { recognizes(file) } else { false }
    }

    /// Call it last, because it parses text up to the first element.
    fileprivate func isMarkup(_ file: RawSpan) -> Bool {
        if case .markup(let recognizes) = self { recognizes(file) } else { false }
    }
}

/// The brands in `ftyp` (ISO/IEC 14496-12 section 4.3).
private enum HEIFBrands {
    private static let brands = ImageFormat.allCases.compactMap { format -> (ImageFormat, [StaticString])? in
        if case .brands(let brands) = format.decoding.leadingBytes { (format, brands) } else { nil }
    }

    private static let maximumLength = 256

    /// Returns the format of the first known brand, the major or a compatible one: `mif1` does not identify the codec.
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
