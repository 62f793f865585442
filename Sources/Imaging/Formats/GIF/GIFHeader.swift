import CVipsShim
import Recipes

/// Reads a GIF's header and counts its frames, including a truncated one.
enum GIFHeader {
    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        let screen = try PixelSize(width: bytes.littleEndian16(at: 6), height: bytes.littleEndian16(at: 8))
        var size = isCredible(screen: screen) ? screen : PixelSize(width: 1, height: 1)
        var frames = 0
        var hasAlpha = false
        var isInterlaced = false
        var disposal = 0
        // Whether the screen is empty before the next frame.
        var isBare = true
        // The previous frame, if its area is cleared.
        var cleared: GIFFrame?
        let end = try GIFBlocks.walk(bytes) { block throws(ImagingError) in
            switch block {
            case .control(let flags, _):
                hasAlpha = hasAlpha || flags & 1 == 1
                disposal = flags >> 2 & 7
            case .frame(let descriptor, let flags, _):
                let frame = try GIFFrame(bytes, descriptor: descriptor)
                if frames == 0 {
                    // If the first frame is larger than the screen, browsers and the decoder enlarge the screen.
                    size.width = max(size.width, frame.left + frame.size.width)
                    size.height = max(size.height, frame.top + frame.size.height)
                    isInterlaced = flags & 0x40 != 0
                }
                hasAlpha = hasAlpha || cleared.map(frame.covers) == false || isBare && !frame.covers(size)
                cleared = disposal == 2 ? frame : nil
                // Disposal 3 restores the state before the frame.
                isBare = isBare && disposal == 3
                disposal = 0
                frames += 1
            case .application: break
            }
        }
        if frames == 0, case .unknown(let block, _) = end {
            throw .cannotDecode(detail: "unknown GIF block type \(block)")
        }
        guard frames > 0 else { throw .cannotDecode(detail: "the GIF file has no frame") }
        return ImageHeader(
            format: .gif, storedSize: size, bands: hasAlpha ? 4 : 3, frames: frames, hasAlpha: hasAlpha,
            isProgressive: isInterlaced)
    }

    /// Returns whether the screen size is not a monitor's, which old programs wrote.
    ///
    /// For these, the decoder (libnsgif) uses the size of the first frame, and the header must match it.
    private static func isCredible(screen: PixelSize) -> Bool {
        switch (screen.width, screen.height) {
        case (640, 480), (640, 512), (800, 600), (1_024, 768), (1_280, 1_024), (1_600, 1_200): false
        case (1...2_048, 1...2_048): true
        default: false
        }
    }
}

struct GIFFrame {
    let left: Int
    let top: Int
    let size: PixelSize

    func covers(_ screen: PixelSize) -> Bool {
        left == 0 && top == 0 && size.width >= screen.width && size.height >= screen.height
    }

    func covers(_ other: GIFFrame) -> Bool {
        left <= other.left && top <= other.top && left + size.width >= other.left + other.size.width
            && top + size.height >= other.top + other.size.height
    }

    init(_ bytes: RawSpan, descriptor: Int) throws(ImagingError) {
        left = try bytes.littleEndian16(at: descriptor + 1)
        top = try bytes.littleEndian16(at: descriptor + 3)
        size = try PixelSize(
            width: bytes.littleEndian16(at: descriptor + 5), height: bytes.littleEndian16(at: descriptor + 7))
    }
}
