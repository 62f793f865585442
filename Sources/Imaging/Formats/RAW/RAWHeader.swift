import Recipes

/// The header of the largest preview, with the metadata of the RAW photograph.
enum RAWHeader {
    /// The minimum longer side of a preview in pixels.
    private static let shortestSide = 320
    private static let maximumPreviews = 12
    fileprivate static let longestPacket = 64 << 10

    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        guard let contents = RAWContents(bytes) else { throw .notAnImage }
        let (range, lossless) = largestPreview(of: contents, in: bytes)
        guard let range else { throw .unsupported("a RAW photograph without a preview of \(shortestSide) pixels") }
        let preview = bytes.extracting(range)
        let previewHeader = try JPEGHeader(preview).header
        let main = contents.main
        let texts = contents.main?.texts(bytes)
        let orientation = main?.number(EXIFDirectory.orientation).flatMap { QuarterTurn(exif: $0) }
        var header = ImageHeader(
            format: .raw, storedSize: previewHeader.storedSize, orientation: orientation ?? previewHeader.orientation,
            bands: previewHeader.bands, isProgressive: previewHeader.isProgressive,
            isChromaSubsampled: previewHeader.isChromaSubsampled, profileByteCount: previewHeader.profileByteCount,
            exif: texts ?? previewHeader.exif)
        header.preview = EmbeddedPreview(range, sensor: contents.sensor ?? lossless)
        header.colors = previewHeader.colors
        if previewHeader.profileByteCount == 0, contents.exif?.isAdobeRGB(bytes) == true {
            header = header.with(.adobeRGB)
        }
        header.rights =
            SourceRights(bytes, of: contents.metadata(bytes), exif: texts?.attribution)
            ?? SourceRights(preview, of: JPEGMetadata.read(preview), exif: previewHeader.exif?.attribution)
        return header
    }

    /// Returns the largest preview, nil if all are too small, and the size of lossless sensor data.
    private static func largestPreview(
        of contents: RAWContents, in bytes: RawSpan
    ) -> (range: Range<Int>?, lossless: PixelSize?) {
        var (best, lossless): ((range: Range<Int>, size: PixelSize)?, PixelSize?)
        for range in contents.previews.prefix(maximumPreviews) {
            // A truncated preview is used up to the end of the file.
            let range = range.clamped(to: 0..<bytes.byteCount)
            guard let frame = try? RAWFrame(in: range, of: bytes) else { continue }
            if frame.isLossless {
                lossless = lossless ?? frame.size
            } else if max(frame.size.width, frame.size.height) >= shortestSide, frame.size.area > best?.size.area ?? 0 {
                best = (range, frame.size)
            }
        }
        return (best?.range, lossless)
    }
}

extension RAWContents {
    fileprivate func metadata(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        if let packet { metadata.addPacket(bytes, at: packet.prefix(RAWHeader.longestPacket)) }
        metadata.records = main?.range(RAWDirectory.Tag.records)?.clamped(to: 0..<bytes.byteCount)
        return metadata
    }
}

extension RAWDirectory {
    /// Returns whether the color space is Adobe RGB as marked by DCF 2.0.
    fileprivate func isAdobeRGB(_ bytes: RawSpan) -> Bool {
        guard let space = number(Tag.space), space != 1 else { return false }
        guard let address = number(Tag.interoperability) else { return space == 2 }
        let directory = try? RAWDirectory(at: address, base: base, isLittleEndian: isLittleEndian, in: bytes)
        return directory?.text(1, longest: 8, in: bytes) == Array("R03".utf8)
    }
}
