package import Memory
package import Recipes

extension ImageFormat {
    private var codec: FormatCodec {
        switch self {
        case .jpeg: JPEGFormat.codec
        case .png: PNGFormat.codec
        case .webp: WebPFormat.codec
        case .gif: GIFFormat.codec
        case .avif: AVIFFormat.codec
        case .heic: HEICFormat.codec
        case .jxl: JXLFormat.codec
        case .tiff: TIFFFormat.codec
        case .bmp: BMPFormat.codec
        case .ico: ICOFormat.codec
        case .raw: RAWFormat.codec
        case .svg: SVGFormat.codec
        }
    }

    var decoding: FormatCodec.Decoding { codec.decoding }

    var encoding: FormatCodec.Encoding? { codec.encoding }

    /// Returns a file that a worker process decodes before it is confined, so that libraries load their data.
    package func warmUpFile() throws -> SharedBytes? {
        switch decoding.warmUp {
        case .written(let bands):
            let size = PixelSize(width: 32, height: 32)
            let pixels = (0..<size.area * bands).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            return try ImageEncoder.encode(pixels: pixels, size: size, bands: bands, format: self, quality: nil).bytes
        case .file(let bytes): return SharedBytes(bytes)
        case nil: return nil
        }
    }
}
