import CSVGShim
import Coordination
import Memory

/// Draws SVG files.
enum SVGPixels {
    /// The number of fonts in which text is drawn; they are opened at the first use.
    static let fontCount = Int(CSVGShim_prepare())

    /// Draws a file in the size of its header; librsvg cannot be stopped.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)``, or the error of `token`.
    static func draw(_ file: SharedBytes, header: ImageHeader, token: WorkToken) throws -> LoadedPixels {
        _ = fontCount
        let (size, natural) = (header.storedSize, header.drawing ?? PixelSize(width: 1, height: 1))
        guard max(size.width, size.height) <= longestSide else {
            throw ImagingError.cannotDecode(detail: "a drawing of \(size)")
        }
        let memory = PlaneMemory(count: size.area * 4)
        let drawing = CSVGShimDrawing(
            width: Double(natural.width) / 1_000, height: Double(natural.height) / 1_000,
            pixel_width: CInt(size.width), pixel_height: CInt(size.height))
        let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(CSVGShim_text_size)) {
            text -> String? in
            let status = unsafe file.withUnsafeBytes { bytes in
                unsafe CSVGShim_draw(
                    bytes.baseAddress, bytes.count, drawing,
                    memory.bytes.assumingMemoryBound(to: UInt8.self).baseAddress,
                    text.baseAddress)
            }
            return unsafe status == 0 ? nil : text.baseAddress.map { unsafe String(cString: $0) } ?? ""
        }
        try token.check()
        if let text { throw ImagingError.cannotDecode(detail: text) }
        return LoadedPixels(pixels: memory.finish(), size: size, bands: 4)
    }

    /// Cairo's own limit.
    private static let longestSide = 32_767
}
