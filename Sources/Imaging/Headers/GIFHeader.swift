extension ImageHeader {
    /// The head of a GIF file (GIF89a specification): its blocks, of which frames are counted, one that is cut short too.
    static func gif(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        let screen = try PixelSize(width: bytes.littleEndian16(at: 6), height: bytes.littleEndian16(at: 8))
        var size = isCredible(screen: screen) ? screen : PixelSize(width: 1, height: 1)
        var frames = 0
        var hasAlpha = false
        var isInterlaced = false
        let end = try GIFBlocks.walk(bytes) { block throws(ImagingError) in
            switch block {
            case .control(let flags): hasAlpha = hasAlpha || flags & 1 == 1
            case .frame(let descriptor, let flags, _):
                if frames == 0 {
                    // The first frame may stick out of the screen, which then grows: browsers and the decoder agree on that.
                    let frame = try GIFFrame(bytes, descriptor: descriptor)
                    size.width = max(size.width, frame.left + frame.size.width)
                    size.height = max(size.height, frame.top + frame.size.height)
                    isInterlaced = flags & 0x40 != 0
                }
                frames += 1
            }
        }
        if frames == 0, case .unknown(let block) = end {
            throw .cannotDecode(detail: "a GIF block of type \(block)")
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
}

/// Where a frame lies on the screen.
struct GIFFrame {
    let left: Int
    let top: Int
    let size: PixelSize

    /// Reads the descriptor at this offset.
    init(_ bytes: RawSpan, descriptor: Int) throws(ImagingError) {
        left = try bytes.littleEndian16(at: descriptor + 1)
        top = try bytes.littleEndian16(at: descriptor + 3)
        size = try PixelSize(
            width: bytes.littleEndian16(at: descriptor + 5), height: bytes.littleEndian16(at: descriptor + 7))
    }
}
