import Memory
import Recipes
import TestSupport
import Testing

struct ImageHeaderTests {
    static let files: [[UInt8]] = [
        JPEGFile(
            marker: 0xC2, segments: [JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + exif(orientation: 6))],
            scans: [3, 1, 1]
        ).bytes,
        PNGFile(
            colorType: 3, before: [PNGFile.chunk("tRNS", [0])], after: [PNGFile.chunk("eXIf", exif(orientation: 3))]
        )
        .bytes,
        GIFFile(frames: Array(repeating: GIFFile.Frame(flags: 0x80, control: 1), count: 3)).bytes,
        WebPFile.file([
            WebPFile.canvas(300, 200, flags: 0x08), WebPFile.lossy(300, 200),
            WebPFile.chunk("EXIF", exif(orientation: 8)),
        ]),
        WebPFile.file([WebPFile.lossless(300, 200, hasAlpha: true)]),
        HEIFFile(
            properties: [HEIFBox.size(300, 200), HEIFBox.rotation(1), HEIFBox.depths([8, 8, 8])],
            positions: [1, 2, 3]
        ).bytes,
    ]

    @Test(arguments: [
        "", "\u{FF}", "<!DOCTYPE html><html>", "%PDF-1.7", "GIF88a",
        "RIFF\0\0\0\0WAVE", "II\0*", "BM", "P6 1 1 255", "MATLAB 5.0", "\0\0\u{1}\0", "#?RADIANCE",
    ])
    func `other leading bytes are not an image`(text: String) {
        #expect(throws: ImagingError.notAnImage) { try inspect(Array(text.utf8)) }
    }

    @Test func `leading bytes alone are an image with a damaged header`() {
        #expect(isDamaged([0xFF, 0xD8, 0xFF, 0xE0]))
        #expect(isDamaged([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        #expect(isDamaged(Array("GIF89a".utf8)))
        #expect(isDamaged(Array("RIFF\0\0\0\0WEBP".utf8)))
    }

    @Test(arguments: files.indices)
    func `a changed byte gives a header or an error`(index: Int) throws {
        let file = ImageHeaderTests.files[index]
        _ = try inspect(file)
        for index in file.indices {
            for value: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF] {
                var broken = file
                broken[index] = value
                guard let header = try? inspect(broken) else { continue }
                #expect(header.storedSize.width > 0 && header.storedSize.height > 0)
                #expect(header.frames > 0 && header.bands > 0 && header.profileByteCount >= 0)
            }
        }
    }

    @Test(arguments: files.indices)
    func `a truncated file gives a header or an error`(index: Int) {
        let file = ImageHeaderTests.files[index]
        for length in 0..<file.count {
            guard let header = try? inspect(Array(file.prefix(length))) else { continue }
            #expect(header.storedSize.area > 0)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: [0x00, 0x21, 0x2C, 0xD0, 0xFF] as [UInt8])
    func `megabytes of one byte after a valid start are parsed quickly`(value: UInt8) {
        for file in ImageHeaderTests.files {
            let long = file.dropLast(2) + [UInt8](repeating: value, count: 4 << 20)
            _ = try? inspect(Array(long))
        }
    }
}
