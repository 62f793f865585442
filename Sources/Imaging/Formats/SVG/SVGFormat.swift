import Coordination
import Memory
import Recipes

/// Vector images, drawn by librsvg.
enum SVGFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .markup { SVGRoot.begins($0) },
            header: { bytes throws(ImagingError) in try SVGHeader.read(bytes) },
            loader: .pixels { file, header, plan, token in
                try SVGPixels.draw(file, header: header, region: plan.drawnRegion, token: token) { file, maximum in
                    try embeddedPNG(of: file, maximumPixels: maximum, token: token)
                }
            },
            warmUp: .file(sample),
            prepare: { _ = SVGPixels.fontCount },
            isUnreliable: { SVGPixels.isFontLost }))

    /// A drawing with text, a gradient, a filter and a nested image.
    private static let sample = Array(
        """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="48">
        <defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient>
        <filter id="f"><feGaussianBlur stdDeviation="2"/><feTurbulence baseFrequency="0.1"/></filter></defs>
        <rect width="64" height="48" fill="url(#g)"/><circle cx="32" cy="24" r="9" filter="url(#f)"/>
        <text x="4" y="20">Ag</text><image width="1" height="1" xlink:href="data:image/png;base64,\(pixel)"/></svg>
        """.utf8)

    private static let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

    /// Converts an image embedded in SVG to PNG in sRGB, and returns its pixel count.
    ///
    /// Returns nil for SVG, an unreadable header, or too many pixels. The file is nil if decoding failed.
    private static func embeddedPNG(
        of file: SharedBytes, maximumPixels: Int, token: WorkToken
    ) throws -> (file: SharedBytes?, pixels: Int)? {
        guard let header = try? ImageHeader.inspect(file), header.vectorSize == nil, header.work.area <= maximumPixels
        else {
            return nil
        }
        do {
            let image = try ImageDecoder.decode(
                file, header: header, plan: DecodePlan(), limits: .none, token: token
            ).interleavedInSRGB(token: token).convertedToSRGB(token: token)
            let settings = EncoderSettings(quality: 100, effort: 1)
            return (try ImageEncoder.encode(image, as: .png, settings: settings), header.work.area)
        } catch ImagingError.cannotDecode {
            return (nil, header.work.area)
        }
    }
}
