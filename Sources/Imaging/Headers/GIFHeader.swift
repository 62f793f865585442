extension ImageHeader {
    /// The head of a GIF file (GIF89a specification): its blocks, of which only the lengths are followed to count frames.
    static func gif(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        let screen = try PixelSize(width: bytes.littleEndian16(at: 6), height: bytes.littleEndian16(at: 8))
        var size = isCredible(screen: screen) ? screen : PixelSize(width: 1, height: 1)
        var frames = 0
        var hasAlpha = false
        var isInterlaced = false
        var offset = try 13 + gifTableLength(flags: bytes.byte(at: 10))
        blocks: while offset < bytes.byteCount {
            switch try bytes.byte(at: offset) {
            case 0x21:
                if try bytes.byte(at: offset + 1) == 0xF9, try bytes.byte(at: offset + 2) >= 4 {
                    let flags = try bytes.byte(at: offset + 3)
                    hasAlpha = hasAlpha || flags & 1 == 1
                }
                offset = try gifDataEnd(bytes, from: offset + 2)
            case 0x2C:
                let flags = try bytes.byte(at: offset + 9)
                if frames == 0 {
                    // The first frame may stick out of the screen, which then grows: browsers and the decoder agree on that.
                    size.width = try max(
                        size.width, bytes.littleEndian16(at: offset + 1) + bytes.littleEndian16(at: offset + 5))
                    size.height = try max(
                        size.height, bytes.littleEndian16(at: offset + 3) + bytes.littleEndian16(at: offset + 7))
                    isInterlaced = flags & 0x40 != 0
                }
                frames += 1
                offset = try gifDataEnd(bytes, from: offset + 11 + gifTableLength(flags: flags))
            case 0x3B: break blocks
            case let block where frames == 0: throw .cannotDecode(detail: "a GIF block of type \(block)")
            default: break blocks
            }
        }
        guard frames > 0 else { throw .cannotDecode(detail: "a GIF without a picture") }
        return ImageHeader(
            format: .gif, storedSize: size, bands: hasAlpha ? 4 : 3, frames: frames, hasAlpha: hasAlpha,
            isProgressive: isInterlaced)
    }

    /// Whether a screen size is the picture's own.
    ///
    /// Old programs wrote the size of the monitor they ran on. The decoder (libnsgif) goes by the first frame for these sizes,
    /// and what is promised here must be what it delivers.
    private static func isCredible(screen: PixelSize) -> Bool {
        switch (screen.width, screen.height) {
        case (640, 480), (640, 512), (800, 600), (1_024, 768), (1_280, 1_024), (1_600, 1_200): false
        case (1...2_048, 1...2_048): true
        default: false
        }
    }

    /// Bytes of the colour table that these flags announce.
    private static func gifTableLength(flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 6 << (flags & 7)
    }

    /// The end of a chain of data blocks, each led by its length, the last one empty.
    private static func gifDataEnd(_ bytes: RawSpan, from start: Int) throws(ImagingError) -> Int {
        var offset = start
        while case let length = try bytes.byte(at: offset), length > 0 {
            offset += length + 1
        }
        return offset + 1
    }
}
