import Recipes

/// Reads the header; the last chunk may be truncated.
struct WebPHeader {
    private var canvas: WebPCanvas?
    private var image: WebPImage?
    private var frames = 0
    private var exif: EXIFFacts?
    private var profileByteCount = 0
    private var profile: SourceColors??

    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader { try WebPHeader(bytes).header }

    static func isAnimated(_ bytes: RawSpan) throws(ImagingError) -> Bool {
        guard bytes.hasText("VP8X", at: 12) else { return false }
        return try WebPCanvas(bytes, at: 20).isAnimated
    }

    private init(_ bytes: RawSpan) throws(ImagingError) {
        let announced = try 8 + bytes.littleEndian32(at: 4)
        let end = min(announced, bytes.byteCount)
        var offset = 12
        // A file in the simple layout has only the image's chunk.
        while offset <= end - 8, canvas != nil || image == nil, bytes.hasChunk(at: offset) {
            let length = try bytes.littleEndian32(at: offset + 4)
            let data = offset + 8
            let mayBeCut = announced > end && length <= announced - data && !bytes.hasText("VP8X", at: offset)
            guard length <= end - data || mayBeCut else {
                throw .cannotDecode(detail: "a WebP chunk of \(length) bytes does not fit")
            }
            try read(bytes, chunkAt: offset, data: data..<min(data + length, end))
            offset = data + length + length % 2
        }
    }

    private mutating func read(_ bytes: RawSpan, chunkAt offset: Int, data: Range<Int>) throws(ImagingError) {
        if bytes.hasText("VP8X", at: offset), canvas == nil, image == nil {
            canvas = try WebPCanvas(bytes, at: data.lowerBound)
        } else if bytes.hasText("VP8 ", at: offset), image == nil {
            image = try WebPImage(lossy: bytes.extracting(data))
        } else if bytes.hasText("VP8L", at: offset), image == nil {
            image = try WebPImage(lossless: bytes.extracting(data))
        } else if bytes.hasText("ANMF", at: offset) {
            frames += 1
        } else if bytes.hasText("EXIF", at: offset), exif == nil {
            exif = EXIFFacts(bytes, range: data)
        } else if bytes.hasText("ICCP", at: offset), profile == nil {
            profileByteCount = data.count
            profile = .some(SourceColors(profile: bytes.extracting(data)))
        }
    }

    private var header: ImageHeader {
        get throws(ImagingError) {
            let isAnimated = canvas?.isAnimated == true
            guard isAnimated ? frames > 0 : image != nil, let size = canvas?.size ?? image?.size else {
                throw .cannotDecode(detail: "the WebP file has no image")
            }
            guard isAnimated || image?.size == size else {
                throw .cannotDecode(detail: "the WebP image does not fill its canvas")
            }
            let hasAlpha = canvas?.hasAlpha ?? image?.hasAlpha ?? false
            return ImageHeader(
                format: .webp, storedSize: size, orientation: exif?.turn ?? .none, bands: hasAlpha ? 4 : 3,
                frames: isAnimated ? frames : 1, hasAlpha: hasAlpha, profileByteCount: profileByteCount,
                exif: exif?.texts
            ).with(profile ?? nil)
        }
    }
}

private struct WebPCanvas {
    let size: PixelSize
    let hasAlpha: Bool
    let isAnimated: Bool

    init(_ bytes: RawSpan, at offset: Int) throws(ImagingError) {
        let flags = try bytes.byte(at: offset)
        hasAlpha = flags & 0x10 != 0
        isAnimated = flags & 0x02 != 0
        size = try PixelSize(
            width: 1 + bytes.littleEndian24(at: offset + 4), height: 1 + bytes.littleEndian24(at: offset + 7))
    }
}

private struct WebPImage {
    let size: PixelSize
    let hasAlpha: Bool

    /// Reads a VP8 header (RFC 6386 section 9.1); decoders ignore the upscaling bits above each side.
    init(lossy bytes: RawSpan) throws(ImagingError) {
        let isKeyFrame = try bytes.byte(at: 0) & 1 == 0
        size = try PixelSize(width: bytes.littleEndian16(at: 6) & 0x3FFF, height: bytes.littleEndian16(at: 8) & 0x3FFF)
        hasAlpha = false
        guard isKeyFrame, try bytes.littleEndian24(at: 3) == 0x2A_019D, size.width > 0, size.height > 0 else {
            throw .cannotDecode(detail: "the header of the WebP image is damaged")
        }
    }

    /// Reads a VP8L header (RFC 9649 section 3.4).
    init(lossless bytes: RawSpan) throws(ImagingError) {
        let bits = try bytes.littleEndian32(at: 1)
        size = PixelSize(width: 1 + bits & 0x3FFF, height: 1 + (bits >> 14) & 0x3FFF)
        hasAlpha = bits >> 28 & 1 == 1
        guard try bytes.byte(at: 0) == 0x2F, bits >> 29 == 0 else {
            throw .cannotDecode(detail: "the header of the lossless WebP image is damaged")
        }
    }
}

extension WebPHeader {
    static func metadata(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        var offset = 12
        while offset <= bytes.byteCount - 8, bytes.hasChunk(at: offset),
            let length = try? bytes.littleEndian32(at: offset + 4)
        {
            let data = offset + 8..<min(offset + 8 + length, bytes.byteCount)
            if bytes.hasText("XMP ", at: offset) { metadata.addPacket(bytes, at: data) }
            metadata.hasManifest = metadata.hasManifest || bytes.hasText("C2PA", at: offset)
            offset += 8 + length + length % 2
        }
        return metadata
    }
}
