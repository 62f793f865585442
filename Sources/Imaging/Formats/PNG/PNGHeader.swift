import Recipes

/// Reads the first chunk, and transparency, EXIF, profile and frames from later chunks.
enum PNGHeader {
    /// Reads the header from a part of the file; nil if `IDAT` chunks cannot be skipped or must be counted.
    static func outline(_ bytes: RawSpan) throws(ImagingError) -> (header: ImageHeader, metadata: EmbeddedMetadata)? {
        var chunks = PNGChunks(skipsData: true)
        while let chunk = chunks.next(in: bytes), !bytes.hasText("IEND", at: chunk.type) {
            if bytes.hasText("acTL", at: chunk.type) { return nil }
        }
        if chunks.hasFailed { return nil }
        return (try read(bytes, skipsData: true), PNGMetadata.read(bytes, skipsData: true))
    }

    static func read(_ bytes: RawSpan, skipsData: Bool = false) throws(ImagingError) -> ImageHeader {
        guard try bytes.bigEndian32(at: 8) == 13, bytes.hasText("IHDR", at: 12) else {
            throw .cannotDecode(detail: "the PNG file does not begin with an IHDR chunk")
        }
        let size = try PixelSize(width: bytes.bigEndian32(at: 16), height: bytes.bigEndian32(at: 20))
        let depth = try bytes.byte(at: 24)
        let colorType = try bytes.byte(at: 25)
        let interlace = try bytes.byte(at: 28)
        guard size.isPlausible(upTo: Int(Int32.max)), interlace <= 1,
            let kind = PNGColorKind(colorType: colorType, depth: depth)
        else {
            throw .cannotDecode(detail: "unknown PNG of \(size), color type \(colorType), depth \(depth)")
        }

        let facts = try PNGFacts(bytes, skipsData: skipsData)
        let animation = PNGAnimation(bytes, size: size)
        let hasAlpha = kind.hasAlpha || facts.hasTransparency || animation?.hasVisibleBackground == true
        return ImageHeader(
            format: .png, storedSize: size, orientation: facts.exif?.turn ?? .none,
            bands: kind.colorBands + (hasAlpha ? 1 : 0), bitDepth: kind.bitDepth, frames: animation?.count ?? 1,
            hasAlpha: hasAlpha, isProgressive: interlace == 1, profileByteCount: facts.profileByteCount,
            exif: facts.exif?.texts
        ).with(facts.colors.declared)
    }
}

private struct PNGFacts {
    private(set) var hasTransparency = false
    private(set) var exif: EXIFFacts?
    private(set) var profileByteCount = 0
    private(set) var colors = PNGColors()

    /// The maximum number of chunks; `IDAT` chunks usually have some kilobytes.
    private static let maximumChunks = 500_000

    init(_ bytes: RawSpan, skipsData: Bool) throws(ImagingError) {
        var hasData = false
        var count = 0
        var chunks = PNGChunks(from: 33, skipsData: skipsData)
        while let chunk = chunks.next(in: bytes), !bytes.hasText("IEND", at: chunk.type) {
            hasData = hasData || bytes.hasText("IDAT", at: chunk.type)
            guard chunk.range.upperBound - 4 <= bytes.byteCount else { break }
            count += 1
            guard count <= Self.maximumChunks else { throw .cannotDecode(detail: "the PNG file has too many chunks") }
            if bytes.hasText("tRNS", at: chunk.type) {
                hasTransparency = true
            } else if bytes.hasText("eXIf", at: chunk.type) {
                exif = exif ?? EXIFFacts(bytes, range: chunk.data)
            } else if bytes.hasText("iCCP", at: chunk.type) {
                profileByteCount = chunk.data.count
                colors.readProfile(bytes, at: chunk.data)
            } else if !hasData {
                try colors.read(bytes, chunk: chunk)
            }
        }
        guard hasData else { throw .cannotDecode(detail: "the PNG file has no image data") }
    }
}

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
