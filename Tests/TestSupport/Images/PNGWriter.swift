/// Writes uncompressed PNG files of kinds that our encoder never writes.
package struct PNGWriter {
    package enum ColorType: UInt8, Sendable {
        case gray = 0
        case rgb = 2
        case palette = 3
        case grayAlpha = 4
        case rgba = 6

        fileprivate var components: Int {
            switch self {
            case .gray, .palette: 1
            case .grayAlpha: 2
            case .rgb: 3
            case .rgba: 4
            }
        }
    }

    package var width: Int
    package var height: Int
    package var colorType: ColorType
    /// Bits per component.
    package var bitDepth = 8
    package var isInterlaced = false
    /// Red, green and blue of each entry.
    package var palette: [UInt8] = []
    /// Alpha of the first palette entries, or the transparent color.
    package var transparency: [UInt8] = []
    /// EXIF orientation; 1 for none.
    package var orientation = 1
    /// Additional chunks before the image data.
    package var chunks: [(type: String, data: [UInt8])] = []
    /// Maximum size of an `IDAT` chunk.
    package var rowsChunk = Int.max
    /// Additional chunks after the image data.
    package var laterChunks: [(type: String, data: [UInt8])] = []

    package init(width: Int, height: Int, colorType: ColorType) {
        self.width = width
        self.height = height
        self.colorType = colorType
    }

    /// `sample` returns the components of a pixel, each within the bit depth.
    package func file(sample: (_ x: Int, _ y: Int) -> [Int]) -> [UInt8] {
        var rows: [UInt8] = []
        for pass in isInterlaced ? PNGWriter.passes : [(0, 0, 1, 1)] {
            for y in stride(from: pass.y, to: height, by: pass.stepY) where pass.x < width {
                rows.append(0)
                rows += packed(stride(from: pass.x, to: width, by: pass.stepX).flatMap { sample($0, y) })
            }
        }
        return file(deflated: Zlib.stored(rows))
    }

    /// Size of each row, or of each row of all passes, without its filter byte.
    package var rowSizes: [Int] {
        (isInterlaced ? PNGWriter.passes : [(0, 0, 1, 1)]).flatMap { pass in
            let width = max(0, (width - pass.x + pass.stepX - 1) / pass.stepX)
            let rows = width == 0 ? 0 : max(0, (height - pass.y + pass.stepY - 1) / pass.stepY)
            return [Int](repeating: (width * bitDepth * colorType.components + 7) / 8, count: rows)
        }
    }

    /// Writes a file with this image data, valid or not.
    package func file(deflated data: [UInt8]) -> [UInt8] {
        var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let interlace: UInt8 = isInterlaced ? 1 : 0
        file += chunk(
            "IHDR", width.bigEndian32 + height.bigEndian32 + [UInt8(bitDepth), colorType.rawValue, 0, 0, interlace])
        if orientation != 1 { file += chunk("eXIf", EXIF.block(orientation: orientation)) }
        if !palette.isEmpty { file += chunk("PLTE", palette) }
        if !transparency.isEmpty { file += chunk("tRNS", transparency) }
        for (type, data) in chunks { file += chunk(type, data) }
        for start in data.isEmpty ? [0] : Array(stride(from: 0, to: data.count, by: rowsChunk)) {
            file += chunk("IDAT", Array(data[start..<start + min(rowsChunk, data.count - start)]))
        }
        for (type, data) in laterChunks { file += chunk(type, data) }
        return file + chunk("IEND", [])
    }

    /// Origin and step of each Adam7 pass.
    private static let passes: [(x: Int, y: Int, stepX: Int, stepY: Int)] = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
    ]

    private func packed(_ samples: [Int]) -> [UInt8] {
        if bitDepth == 8 { return samples.map(UInt8.init) }
        if bitDepth == 16 { return samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } }
        let perByte = 8 / bitDepth
        return stride(from: 0, to: samples.count, by: perByte).map { start in
            (0..<perByte).reduce(0) { byte, offset in
                byte << bitDepth | (start + offset < samples.count ? UInt8(samples[start + offset]) : 0)
            }
        }
    }

    private func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return data.count.bigEndian32 + body + Zlib.checksum32(body).bigEndian32
    }
}
