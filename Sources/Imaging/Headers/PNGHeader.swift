extension ImageHeader {
    /// Reads the header of a PNG file (ISO/IEC 15948): the first chunk, and transparency, EXIF, ICC and frames from the
    /// others.
    static func png(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        guard try bytes.bigEndian32(at: 8) == 13, bytes.hasText("IHDR", at: 12) else {
            throw .cannotDecode(detail: "the PNG file does not begin with an IHDR chunk")
        }
        let size = try PixelSize(width: bytes.bigEndian32(at: 16), height: bytes.bigEndian32(at: 20))
        let depth = try bytes.byte(at: 24)
        let colorType = try bytes.byte(at: 25)
        let interlace = try bytes.byte(at: 28)
        let limit = Int(Int32.max)
        guard (1...limit).contains(size.width), (1...limit).contains(size.height), interlace <= 1,
            let kind = PNGColorKind(colorType: colorType, depth: depth)
        else {
            throw .cannotDecode(detail: "unknown PNG of \(size), color type \(colorType), depth \(depth)")
        }

        let chunks = try pngChunks(bytes)
        let animation = PNGAnimation(bytes, size: size)
        let hasAlpha = kind.hasAlpha || chunks.hasTransparency || animation?.showsGround == true
        return ImageHeader(
            format: .png, storedSize: size, orientation: chunks.orientation,
            bands: kind.colorBands + (hasAlpha ? 1 : 0), bitDepth: kind.bitDepth,
            frames: animation?.count ?? 1,
            hasAlpha: hasAlpha, isProgressive: interlace == 1, profileByteCount: chunks.profileByteCount,
            exif: chunks.exif
        ).with(chunks.colors.stated)
    }

    /// Maximum number of chunks of a PNG file; chunks of pixels usually have some kilobytes.
    private static let maximumPNGChunks = 500_000

    private struct PNGChunks {
        var hasTransparency = false
        var orientation = QuarterTurn.none
        var exif: EXIFTexts?
        var profileByteCount = 0
        var colors = PNGColors()
    }

    /// Reads the chunks after the first one.
    ///
    /// EXIF may follow the image data; damage there does not matter.
    private static func pngChunks(_ bytes: RawSpan) throws(ImagingError) -> PNGChunks {
        var chunks = PNGChunks()
        var (hasData, hasEXIF) = (false, false)
        var count = 0
        var offset = 33
        while offset <= bytes.byteCount - 8, !bytes.hasText("IEND", at: offset + 4) {
            let length = try bytes.bigEndian32(at: offset)
            let data = offset + 8
            guard length <= bytes.byteCount - data else { break }
            count += 1
            guard count <= maximumPNGChunks else { throw .cannotDecode(detail: "the PNG file has too many chunks") }
            if bytes.hasText("IDAT", at: offset + 4) {
                hasData = true
            } else if bytes.hasText("tRNS", at: offset + 4) {
                chunks.hasTransparency = true
            } else if bytes.hasText("eXIf", at: offset + 4), !hasEXIF {
                hasEXIF = true
                chunks.orientation = QuarterTurn(exif: bytes, range: data..<data + length)
                chunks.exif = EXIFTexts(bytes, range: data..<data + length)
            } else if bytes.hasText("iCCP", at: offset + 4) {
                chunks.profileByteCount = length
                chunks.colors.readProfile(bytes, data..<data + length)
            } else if !hasData {
                try chunks.colors.read(bytes, at: offset, length: length)
            }
            offset = data + length + 4
        }
        guard hasData || bytes.hasText("IDAT", at: offset + 4) else {
            throw .cannotDecode(detail: "the PNG file has no image data")
        }
        return chunks
    }
}

/// The components of a PNG pixel; the entries of a palette count as colors of 8 bits.
private struct PNGColorKind {
    let colorBands: Int
    let hasAlpha: Bool
    let bitDepth: Int

    init?(colorType: Int, depth: Int) {
        let depths: Set<Int>
        switch colorType {
        case 0: (colorBands, hasAlpha, bitDepth, depths) = (1, false, depth, [1, 2, 4, 8, 16])
        case 2: (colorBands, hasAlpha, bitDepth, depths) = (3, false, depth, [8, 16])
        case 3: (colorBands, hasAlpha, bitDepth, depths) = (3, false, 8, [1, 2, 4, 8])
        case 4: (colorBands, hasAlpha, bitDepth, depths) = (1, true, depth, [8, 16])
        case 6: (colorBands, hasAlpha, bitDepth, depths) = (3, true, depth, [8, 16])
        default: return nil
        }
        guard depths.contains(depth) else { return nil }
    }
}
