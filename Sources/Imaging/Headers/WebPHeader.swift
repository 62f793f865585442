extension ImageHeader {
    /// The head of a WebP file (RFC 9649): its chunks, by their lengths; the last may be cut short.
    static func webp(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        let announced = try 8 + bytes.littleEndian32(at: 4)
        let end = min(announced, bytes.byteCount)
        var canvas: WebPCanvas?
        var picture: WebPPicture?
        var frames = 0
        var orientation = 1
        var profileByteCount = 0
        var offset = 12
        while offset <= end - 8 {
            let length = try bytes.littleEndian32(at: offset + 4)
            let data = offset + 8
            guard length <= end - data || announced > end && length <= announced - data else {
                throw .cannotDecode(detail: "a WebP chunk \(length) bytes long")
            }
            if bytes.hasText("VP8X", at: offset), canvas == nil, picture == nil {
                canvas = try WebPCanvas(bytes, at: data)
            } else if bytes.hasText("VP8 ", at: offset), picture == nil {
                picture = try WebPPicture(lossy: bytes, at: data)
            } else if bytes.hasText("VP8L", at: offset), picture == nil {
                picture = try WebPPicture(lossless: bytes, at: data)
            } else if bytes.hasText("ANMF", at: offset) {
                frames += 1
            } else if bytes.hasText("EXIF", at: offset) {
                orientation = EXIFOrientation.value(in: bytes, range: data..<min(data + length, end))
            } else if bytes.hasText("ICCP", at: offset) {
                profileByteCount = length
            }
            // A chunk of the simple layout is the whole file.
            if canvas == nil, picture != nil { break }
            offset = data + length + length % 2
        }

        let isAnimated = canvas?.isAnimated == true
        guard isAnimated ? frames > 0 : picture != nil, let size = canvas?.size ?? picture?.size else {
            throw .cannotDecode(detail: "a WebP without a picture")
        }
        guard isAnimated || picture?.size == size else {
            throw .cannotDecode(detail: "a WebP picture that does not fill its canvas")
        }
        let hasAlpha = canvas?.hasAlpha ?? picture?.hasAlpha ?? false
        return ImageHeader(
            format: .webp, storedSize: size, orientation: orientation, bands: hasAlpha ? 4 : 3,
            frames: isAnimated ? frames : 1, hasAlpha: hasAlpha, profileByteCount: profileByteCount)
    }
}

/// The chunk that leads a file with more than a plain picture in it (RFC 9649 section 2.7).
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

/// The head of one compressed picture.
private struct WebPPicture {
    let size: PixelSize
    let hasAlpha: Bool

    /// The frame header of VP8 (RFC 6386 section 9.1); the two bits above each side ask for upscaling, which nobody does.
    init(lossy bytes: RawSpan, at offset: Int) throws(ImagingError) {
        let isKeyFrame = try bytes.byte(at: offset) & 1 == 0
        size = try PixelSize(
            width: bytes.littleEndian16(at: offset + 6) & 0x3FFF, height: bytes.littleEndian16(at: offset + 8) & 0x3FFF)
        hasAlpha = false
        guard isKeyFrame, try bytes.littleEndian24(at: offset + 3) == 0x2A_019D, size.width > 0, size.height > 0 else {
            throw .cannotDecode(detail: "a WebP picture with a damaged head")
        }
    }

    /// The header of the lossless bitstream (RFC 9649 section 3.4).
    init(lossless bytes: RawSpan, at offset: Int) throws(ImagingError) {
        let bits = try bytes.littleEndian32(at: offset + 1)
        size = PixelSize(width: 1 + bits & 0x3FFF, height: 1 + (bits >> 14) & 0x3FFF)
        hasAlpha = bits >> 28 & 1 == 1
        guard try bytes.byte(at: offset) == 0x2F, bits >> 29 == 0 else {
            throw .cannotDecode(detail: "a lossless WebP picture with a damaged head")
        }
    }
}
