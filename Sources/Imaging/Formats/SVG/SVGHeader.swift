import Recipes
import Text

/// Reads the attributes of the root element (SVG 1.1 section 7, CSS Images 3 section 4.2).
///
/// Without a size, an image has the size of its view box, otherwise 300×150.
enum SVGHeader {
    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        guard let root = SVGRoot(bytes) else { throw .cannotDecode(detail: "the SVG file has no root element") }
        let width = root.length("width")
        let height = root.length("height")
        let box = root.viewBox
        let ratio = box.map { $0.width / $0.height }
        let natural: (width: Double, height: Double) =
            switch (width, height) {
            case (let width?, let height?): (width, height)
            case (let width?, nil): (width, ratio.map { width / $0 } ?? 150)
            case (nil, let height?): (ratio.map { height * $0 } ?? 300, height)
            case (nil, nil): box ?? (300, 150)
            }
        guard 0...longestSide ~= natural.width, 0...longestSide ~= natural.height, natural.width > 0, natural.height > 0
        else { throw .cannotDecode(detail: "an SVG of \(natural.width)×\(natural.height)") }
        func rounded(_ side: Double, _ unit: Double) -> Int {
            max(1, Int((side * unit).rounded(.toNearestOrAwayFromZero)))
        }
        var header = ImageHeader(
            format: .svg, storedSize: PixelSize(width: rounded(natural.width, 1), height: rounded(natural.height, 1)),
            bands: 4, hasAlpha: true)
        header.vectorSize = PixelSize(width: rounded(natural.width, 1_000), height: rounded(natural.height, 1_000))
        return header
    }

    private static let longestSide = 1e7
}
