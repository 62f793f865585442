/// The largest image of an icon; of images of one size, the one with most bits.
struct ICOImage {
    /// The place of its file: a PNG, or a bitmap without the first of its headers.
    let place: Range<Int>
    /// The header of the icon that shows this image.
    let header: ImageHeader
    /// The header of the PNG; nil for a bitmap.
    let png: ImageHeader?
    /// Whether a mask of one bit a pixel follows the bitmap.
    let hasMask: Bool

    /// Reads the directory.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for an icon without any image that can be read.
    init(_ bytes: RawSpan) throws(ImagingError) {
        var largest: ICOImage?
        for index in 0..<(try bytes.littleEndian16(at: 4)) {
            guard let image = try? ICOImage(bytes, entry: 6 + 16 * index) else { continue }
            if largest.map({ $0.rank < image.rank }) ?? true { largest = image }
        }
        guard let largest else { throw .cannotDecode(detail: "the icon has no image that can be read") }
        self = largest
    }

    private var rank: (Int, Int) { (header.storedSize.area, bits) }

    private let bits: Int

    private init(_ bytes: RawSpan, entry: Int) throws(ImagingError) {
        let length = try bytes.littleEndian32(at: entry + 8)
        let start = try bytes.littleEndian32(at: entry + 12)
        guard start < bytes.byteCount, length > 0 else {
            throw .cannotDecode(detail: "an image lies outside of its icon")
        }
        place = start..<min(start + length, bytes.byteCount)
        if ImageHeader.sniff(bytes.extracting(place)) == .png {
            let png = try ImageHeader.png(bytes.extracting(place))
            header = ImageHeader(
                format: .ico, storedSize: png.size, bands: png.bands, bitDepth: png.bitDepth, hasAlpha: png.hasAlpha,
                isProgressive: png.isProgressive)
            (self.png, hasMask, bits) = (png, false, png.bands * png.bitDepth)
            return
        }
        // The height of the bitmap is that of its colors and its mask together.
        let (width, height) = try (bytes.littleEndian32(at: start + 4), bytes.littleEndian32(at: start + 8))
        let stated = try bytes.byte(at: entry + 1)
        hasMask = height != (stated == 0 ? 256 : stated)
        let size = PixelSize(width: width, height: hasMask ? height / 2 : height)
        guard try bytes.littleEndian32(at: start) >= 40, size.isPossible(upTo: ImageFormat.ico.maximumSide) else {
            throw .cannotDecode(detail: "an image of \(size) in an icon")
        }
        (png, bits) = (nil, try bytes.littleEndian16(at: start + 14))
        header = ImageHeader(format: .ico, storedSize: size, bands: 4, hasAlpha: true)
    }
}
