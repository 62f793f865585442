import CPixels
import Coordination
import Memory

extension DecodedImage {
    /// What a border of `color` surrounds in the first frame of interleaved pixels; the whole frame if it is all border.
    ///
    /// - Parameters:
    ///   - color: The border's colour; nil for that of the top left pixel.
    ///   - tolerance: Largest difference of a border's pixel from the colour in each component, alpha included.
    /// - Throws: The error of `token`.
    func part(insideBorderOf color: Color?, tolerance: Int, token: WorkToken) throws -> ImagePart {
        defer { extendLifetime(token) }
        let color = color ?? cornerColor
        var border = CPixelsBorder()
        border.color = (color.red, color.green, color.blue, color.alpha)
        border.tolerance = Int32(tolerance)
        let status = unsafe pixels.withUnsafeBytes { bytes in
            var frame = unsafe CPixelsFrame(
                pixels: UnsafeMutablePointer(mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress),
                stride: size.width * bands, width: Int32(size.width), height: Int32(size.height), bands: Int32(bands))
            let watch = unsafe CPixelsWatch(
                should_stop: shouldStop, context: Unmanaged.passUnretained(token).toOpaque())
            return unsafe CPixels_find_border(&frame, &border, watch)
        }
        if status != 0 { try token.check() }
        return ImagePart(
            x: Int(border.left), y: Int(border.top),
            size: PixelSize(width: Int(border.right - border.left), height: Int(border.bottom - border.top)), of: size)
    }

    private var cornerColor: Color {
        let pixel = pixel(x: 0, y: 0)
        let isGrey = bands < 3
        return Color(
            red: pixel[0], green: pixel[isGrey ? 0 : 1], blue: pixel[isGrey ? 0 : 2],
            alpha: hasAlpha ? pixel[bands - 1] : 255)
    }
}
