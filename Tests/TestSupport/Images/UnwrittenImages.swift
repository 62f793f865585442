package import Recipes

/// Files of formats that the service only reads; each shows ``SampleImage/quarters(_:)`` upright at 64×48.
package enum UnwrittenImages {
    package typealias Sample = (name: String, file: [UInt8])

    package static let size = ImageFixture.size

    /// Index of a pixel's quarter: red, green, blue, white.
    @Sendable package static func quarter(_ x: Int, _ y: Int) -> Int {
        (x < size.width / 2 ? 0 : 1) + (y < size.height / 2 ? 0 : 2)
    }

    package static let all: [Sample] = bitmaps + documents + drawings

    /// White is half transparent in bitmaps whose name says so.
    package static let bitmaps: [Sample] = {
        var samples: [Sample] = []
        for coding in BMPWriter.Coding.allCases where coding != .one {
            for isTopDown in [false, true] where !(isTopDown && [.runs4, .runs8].contains(coding)) {
                for length in [12, 40, 108, 124] {
                    let isPlain = [.four, .eight, .twentyFour].contains(coding)
                    guard length != 12 || isPlain && !isTopDown else { continue }
                    var writer = BMPWriter(coding)
                    writer.isTopDown = isTopDown
                    writer.headerLength = length
                    let alpha = coding == .fields32 && length > 40 ? "-alpha" : ""
                    let name = "\(coding.rawValue)-\(length)\(isTopDown ? "-down" : "")\(alpha).bmp"
                    samples.append((name, writer.file(size, quarter)))
                }
            }
        }
        return samples
    }()

    package static let documents: [Sample] = {
        func page(_ change: (inout TIFFWriter.Page) -> Void = { _ in }) -> TIFFWriter.Page {
            var page = TIFFWriter.Page(size) { x, y in
                [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]][quarter(x, y)]
            }
            change(&page)
            return page
        }
        var big = TIFFWriter([page()])
        big.isBig = true
        var motorola = TIFFWriter([page()])
        motorola.isLittleEndian = false
        var bigMotorola = big
        bigMotorola.isLittleEndian = false
        let deep = page {
            $0.bits = 16
            $0.pixel = { x, y in
                [[65_535, 0, 0], [0, 65_535, 0], [0, 0, 65_535], [65_535, 65_535, 65_535]][quarter(x, y)]
            }
        }
        let palette = page {
            ($0.kind, $0.samples, $0.bits) = (.palette, 1, 4)
            $0.palette = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
            $0.pixel = { x, y in [quarter(x, y)] }
        }
        let turned = page {
            $0.size = PixelSize(width: 48, height: 64)
            $0.orientation = 6
            $0.pixel = { x, y in
                [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]][quarter(63 - y, x)]
            }
        }
        return [
            ("plain.tiff", TIFFWriter([page()]).file), ("big.tiff", big.file), ("motorola.tiff", motorola.file),
            ("big-motorola.tiff", bigMotorola.file), ("deep.tiff", TIFFWriter([deep]).file),
            ("palette.tiff", TIFFWriter([palette]).file), ("turned.tiff", TIFFWriter([turned]).file),
            ("packed.tiff", TIFFWriter([page { $0.compression = 32_773 }]).file),
            ("tiled.tiff", TIFFWriter([page { $0.isTiled = true }]).file),
            ("pages.tiff", TIFFWriter([page(), page(), deep]).file),
        ]
    }()

    package static let drawings: [Sample] = [
        ("plain.svg", svg("width='64' height='48'")),
        ("box.svg", svg("viewBox='0 0 64 48'")),
        (
            "prolog.svg",
            Array("<?xml version='1.0'?>\n<!-- > -->\n<!DOCTYPE svg [<!ENTITY a \"b>\">]>\n".utf8)
                + svg("width='64' height='48'")
        ),
    ]

    /// Four rectangles in a root element with these attributes.
    package static func svg(_ attributes: String, _ more: String = "") -> [UInt8] {
        let colors = ["#f00", "#0f0", "#00f", "#fff"]
        let parts = (0..<4).map { index in
            "<rect x='\(index % 2 * 32)' y='\(index / 2 * 24)' width='32' height='24' fill='\(colors[index])'/>"
        }
        return Array("<svg xmlns='http://www.w3.org/2000/svg' \(attributes)>\(parts.joined())\(more)</svg>".utf8)
    }
}
