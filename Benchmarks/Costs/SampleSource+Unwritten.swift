import Recipes
import TestSupport

// Sources of formats that the service reads and does not write.

extension SampleSource {
    /// A TIFF file; its components change from pixel to pixel.
    var document: [UInt8] {
        var page = TIFFWriter.Page(Self.size) { x, y in [x & 255, y & 255, (x ^ y) & 255] }
        switch self {
        case .tiffAlpha:
            page.samples = 4
            page.pixel = { x, y in [x & 255, y & 255, (x ^ y) & 255, (x + y) & 255] }
        case .tiffSixteenBit:
            page.bits = 16
            page.pixel = { x, y in [x * 20 & 65_535, y * 20 & 65_535, (x ^ y) * 20 & 65_535] }
        case .tiffCMYK:
            (page.kind, page.samples) = (.cmyk, 4)
            page.pixel = { x, y in [x & 255, y & 255, (x ^ y) & 255, (x + y) & 127] }
        case .tiffPalette:
            (page.kind, page.samples) = (.palette, 1)
            page.palette = (0..<256).map { [UInt8($0), UInt8(255 - $0), UInt8($0 / 2)] }
            page.pixel = { x, y in [(x ^ y) & 255] }
        case .tiffPacked: page.compression = 32_773
        case .tiffTiled: page.isTiled = true
        default: break
        }
        return TIFFWriter([page]).file
    }

    /// A bitmap of fields with alpha.
    var bitmapWithAlpha: [UInt8] {
        var writer = BMPWriter(.fields32)
        writer.headerLength = 124
        return writer.file(Self.size) { ($0 ^ $1) & 3 }
    }

    /// An SVG file that fills its size with one kind of content.
    var drawing: [UInt8] {
        let (width, height) = (Self.size.width, Self.size.height)
        let content =
            switch self {
            case .svgShapes:
                (0..<2_000).map { number in
                    "<circle cx='\(number * 397 % width)' cy='\(number * 613 % height)' r='\(20 + number % 50)' "
                        + "fill='#\(["c33", "3c3", "33c"][number % 3])' opacity='.5' stroke='#000'/>"
                }.joined()
            case .svgPath:
                "<path fill='#246' stroke='#c80' d='M0 0"
                    + (0..<5_000).map { "L\($0 * 397 % width) \($0 * 613 % height)" }.joined() + "'/>"
            case .svgText:
                (1...60).map { line in
                    "<text y='\(line * 33)' font-size='30'>\(String(repeating: "Hamburgefonts ", count: 14))</text>"
                }.joined()
            case .svgGradients:
                "<radialGradient id='g'><stop stop-color='red'/><stop offset='1' stop-color='#00f' stop-opacity='.2'/>"
                    + "</radialGradient>"
                    + String(repeating: "<rect width='100%' height='100%' fill='url(#g)'/>", count: 4)
            case .svgFilters:
                "<filter id='f'><feTurbulence baseFrequency='.05' numOctaves='3' result='t'/>"
                    + "<feGaussianBlur in='SourceGraphic' stdDeviation='20'/><feBlend in2='t'/></filter>"
                    + "<rect width='100%' height='100%' fill='#369' filter='url(#f)'/>"
            default:
                "<image width='\(width)' height='\(height)' xlink:href='data:image/png;base64,\(Self.base64(embedded))'/>"
            }
        let root =
            "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' "
            + "width='\(width)' height='\(height)'>"
        return Array("\(root)\(content)</svg>".utf8)
    }

    private var embedded: [UInt8] {
        ImageFixture.file(.photo(PixelSize(width: 300, height: 200)), as: .png)
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        // Bytes behind the end of a PNG file are not read.
        let padded = bytes + [UInt8](repeating: 0, count: (3 - bytes.count % 3) % 3)
        var text: [UInt8] = []
        for start in stride(from: 0, to: padded.count, by: 3) {
            let group = Int(padded[start]) << 16 | Int(padded[start + 1]) << 8 | Int(padded[start + 2])
            text += [18, 12, 6, 0].map { digits[group >> $0 & 63] }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
