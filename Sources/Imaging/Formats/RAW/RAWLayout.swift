package import Recipes

/// Where a RAW photograph has its largest preview, and what it says about itself.
package struct RAWLayout: Sendable {
    /// A JPEG file within the file.
    package let preview: Range<Int>
    private let sensor: PixelSize?
    private let orientation: QuarterTurn?
    private let texts: EXIFTexts?
    private let rights: SourceRights?
    private let isAdobeRGB: Bool

    /// Of a preview, on its longer side.
    private static let shortestSide = 320
    private static let maximumPreviews = 12
    private static let longestPacket = 64 << 10
    private static let longestRecords = 16 << 10

    /// Nil for a file of another kind.
    package init?(byteCount: Int, _ read: RangeReader) throws(HeaderStop) {
        guard let contents = try RAWContents(read) else { return nil }
        var (best, lossless): ((place: Range<Int>, size: PixelSize)?, PixelSize?)
        for place in contents.previews.prefix(Self.maximumPreviews) where place.lowerBound < byteCount {
            // Of a truncated file, the rest counts.
            let place = place.clamped(to: 0..<byteCount)
            let frame = try HeaderStop.unlessFailed { () throws(HeaderStop) in try RAWFrame(in: place, read) } ?? nil
            guard let frame else { continue }
            if frame.isLossless {
                lossless = lossless ?? frame.size
            } else if frame.size.area > best?.size.area ?? 0 {
                best = (place, frame.size)
            }
        }
        guard let best, max(best.size.width, best.size.height) >= Self.shortestSide else {
            throw .failed(.unsupported("a RAW photograph without a preview of \(Self.shortestSide) pixels"))
        }
        preview = best.place
        sensor = contents.sensor ?? lossless
        let (main, exposure) = (contents.main, contents.exposure)
        orientation = main?.number(EXIFDirectory.orientation).flatMap { QuarterTurn(exif: $0) }
        texts = try main?.texts(read)
        isAdobeRGB = try exposure?.isAdobeRGB(read) ?? false
        let packet = try contents.packet.map { place throws(HeaderStop) in
            try HeaderStop.unlessFailed { () throws(HeaderStop) in
                try read(place.prefix(Self.longestPacket).clamped(to: 0..<byteCount))
            } ?? []
        }
        let records = try main?.bytes(RAWDirectory.Tag.records, atMost: Self.longestRecords, read) ?? []
        rights = SourceRights(packet: packet ?? [], records: records, exif: texts?.attribution)
    }

    /// - Parameter preview: The bytes of ``preview``.
    package func header(preview bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        let own = try JPEGHeader(bytes).header
        var header = ImageHeader(
            format: .raw, storedSize: own.storedSize, orientation: orientation ?? own.orientation, bands: own.bands,
            isProgressive: own.isProgressive, isChromaSubsampled: own.isChromaSubsampled,
            profileByteCount: own.profileByteCount, preview: EmbeddedPreview(preview, sensor: sensor),
            exif: texts ?? own.exif)
        header.colors = own.colors
        if isAdobeRGB, own.profileByteCount == 0 { header = header.with(.adobeRGB) }
        header.rights = rights ?? SourceRights(bytes, of: JPEGMetadata.parts(bytes), exif: own.exif?.attribution)
        return header
    }
}

extension RAWDirectory {
    /// As marked by DCF 2.0.
    fileprivate func isAdobeRGB(_ read: RangeReader) throws(HeaderStop) -> Bool {
        guard let space = number(Tag.space), space != 1 else { return false }
        guard let address = number(Tag.interoperability) else { return space == 2 }
        let directory = try HeaderStop.unlessFailed { () throws(HeaderStop) in
            try RAWDirectory(at: address, base: base, isLittleEndian: isLittleEndian, read)
        }
        return try directory?.text(1, longest: 8, read) == Array("R03".utf8)
    }
}

extension SourceRights {
    fileprivate init?(packet: [UInt8], records: [UInt8], exif: Attribution?) {
        let bytes = packet + records
        let span = unsafe bytes.span.bytes
        var parts = MetadataParts()
        if !packet.isEmpty { parts.addPacket(span, 0..<packet.count) }
        if !records.isEmpty { parts.records = packet.count..<bytes.count }
        self.init(span, of: parts, exif: exif)
    }
}
