import CPixels
import Coordination
import Memory
import Recipes

extension DecodedImage {
    /// Returns the region inside the border of the first frame; the whole frame if it is only border.
    func region(inside trim: ImageOperations.Trim, token: WorkToken) throws -> ImageRegion {
        defer { extendLifetime(token) }
        let borderColor = cornerColor(isBottomRight: trim.isFromBottomRight)
        let corner = trim.matte.map { borderColor.composited(over: $0) } ?? borderColor
        let color = trim.color ?? corner
        var border = CPixelsBorder()
        border.color = (color.red, color.green, color.blue, color.alpha)
        if let matte = trim.matte {
            border.is_smoothed = 1
            border.matte = (matte.red, matte.green, matte.blue)
        }
        border.tolerance = Int32(trim.tolerance)
        border.is_distance = trim.isDistance ? 1 : 0
        let status = unsafe pixels.withUnsafeBytes { bytes in
            var frame = unsafe CPixelsFrame(
                UnsafeMutableRawPointer(mutating: bytes.baseAddress), size: size, bands: bands)
            let watch = unsafe CPixelsWatch(token)
            return unsafe CPixels_find_border(&frame, &border, watch)
        }
        if status != 0 { try token.check() }
        if trim.isEqualAcross { Self.equalize(&border.left, &border.right, side: size.width) }
        if trim.isEqualDown { Self.equalize(&border.top, &border.bottom, side: size.height) }
        return ImageRegion(
            x: Int(border.left), y: Int(border.top),
            size: PixelSize(width: Int(border.right - border.left), height: Int(border.bottom - border.top)), of: size)
    }

    private static func equalize(_ start: inout Int32, _ end: inout Int32, side: Int) {
        let width = min(start, Int32(side) - end)
        start = width
        end = Int32(side) - width
    }

    private func cornerColor(isBottomRight: Bool) -> Color {
        let pixel = isBottomRight ? pixel(x: size.width - 1, y: size.height - 1) : pixel(x: 0, y: 0)
        let isGray = bands < 3
        return Color(
            red: pixel[0], green: pixel[isGray ? 0 : 1], blue: pixel[isGray ? 0 : 2],
            alpha: hasAlpha ? pixel[bands - 1] : 255)
    }
}
