import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// SVG syntax that librsvg does not support.
@Suite(.timeLimit(.minutes(1)))
struct DrawingRewritingTests {
    @Test(arguments: [
        ("fill='var(--c,#a00)'", [170, 0, 0]), ("fill='var( --c , rgb(0,170,0) )'", [0, 170, 0]),
        ("style='fill:var(--a, var(--b, var(--c, #00a)))'", [0, 0, 170]),
        ("class='a'", [170, 0, 0]), ("fill='#123456'", [18, 52, 86]),
    ])
    func `a custom property uses its fallback`(attribute: String, color: [Int]) throws {
        let image = try draw(
            "width='40' height='30'><style>:root{--c:#0a0} .a{fill:var(--c,#a00)}</style>"
                + "<rect \(attribute) width='40' height='30'/>")
        #expect(image.isClose(x: 9, y: 9, to: color + [255], tolerance: 1), "\(image.pixel(x: 9, y: 9))")
    }

    @Test(
        arguments: ["stroke-width='6'", "stroke-width=\"6px\"", "style='stroke-width: 6;fill:none'"], [50, 100, 400])
    func `a non-scaling stroke is thin at every size`(width: String, side: Int) throws {
        let image = try draw(
            "width='100' height='100' viewBox='0 0 10 10'>"
                + "<path d='M1 5h8' stroke='#f00' \(width) vector-effect='non-scaling-stroke'/>",
            PixelSize(width: side, height: side))
        let ink = (0..<side).filter { image.pixel(x: side / 2, y: $0)[3] > 127 }
        #expect(ink.count == 6 && ink.contains(side / 2))
    }

    @Test(arguments: [
        ("jpg", ImageFormat.jpeg), ("pjpeg", .jpeg), ("webp", .webp), ("gif", .gif), ("avif", .avif), ("x-png", .png),
    ])
    func `embedded images of all formats are drawn`(name: String, format: ImageFormat) throws {
        let size = PixelSize(width: 40, height: 30)
        let file = ImageFixture.file(.plain(size, [0, 0, 255]), as: format)
        for quote in ["\"", "'"] {
            let image = try draw(
                "xmlns:xlink='http://www.w3.org/1999/xlink' width='80' height='30'>"
                    + "<image width='40' height='30' href=\(quote)data:image/\(name);base64,\(Self.base64(file))\(quote)/>"
                    + "<image x='40' width='40' height='30' xlink:href=\(quote)data:image/\(name);base64,\(Self.base64(file))\(quote)/>"
            )
            for x in [9, 60] { #expect(image.isClose(x: x, y: 9, to: [0, 0, 255, 255])) }
        }
    }

    @Test func `embedded images are limited, and damage affects only them`() throws {
        let large = ImageFixture.file(.plain(PixelSize(width: 2_100, height: 2_000), [0, 0, 255]), as: .webp)
        for file in [large, Array("RIFF????WEBPVP8 ".utf8), []] {
            let image = try draw(
                "width='40' height='30'><image width='40' height='30' href='data:image/webp;base64,\(Self.base64(file))'/>"
                    + "<rect width='9' height='9' fill='var(--a,#a00'/><rect x='20' width='9' height='9' fill='#0a0'/>"
                    + "<path stroke-width='x' vector-effect='non-scaling-stroke'/>")
            #expect(image.pixel(x: 25, y: 5) == [0, 170, 0, 255] && image.pixel(x: 35, y: 25)[3] == 0)
        }
        let unclosed =
            "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='3'><image href='data:image/webp;base64,AAAA"
        #expect(throws: ImagingError.self) { try draw(file: Array(unclosed.utf8)) }
    }

    @Test(arguments: ["var(", "var(a,", "(", "data:image/", "data:image/webp;base64,AAAA", "<a "])
    func `the time of a rewrite grows linearly with the text`(part: String) {
        let file = Array(
            ("<svg xmlns='http://www.w3.org/2000/svg' width='4' height='3'><a b='"
                + String(repeating: part, count: 100_000)).utf8)
        let start = threadTime
        #expect(throws: ImagingError.self) { try draw(file: file) }
        #expect(threadTime - start < .seconds(5))
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        return stride(from: 0, to: bytes.count, by: 3).reduce(into: "") { text, start in
            let part = bytes[start..<min(start + 3, bytes.count)]
            let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
            text += (0..<4).map { $0 <= part.count ? String(letters[bits >> (18 - 6 * $0) & 63]) : "=" }.joined()
        }
    }

    private func draw(_ text: String, _ size: PixelSize? = nil) throws -> DecodedImage {
        try draw(file: Array("<svg xmlns='http://www.w3.org/2000/svg' \(text)</svg>".utf8), size)
    }

    private func draw(file: [UInt8], _ size: PixelSize? = nil) throws -> DecodedImage {
        try ImageLibrary.start()
        let bytes = SharedBytes(file)
        return try ImageDecoder.decode(
            bytes, header: .inspect(bytes), plan: DecodePlan(drawnSize: size), limits: .none, token: WorkToken())
    }
}
