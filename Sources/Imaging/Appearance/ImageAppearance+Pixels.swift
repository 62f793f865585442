package import Coordination
import Memory
package import Recipes

extension ImageAppearance {
    /// - Parameters:
    ///   - file: A lossless still with sides up to ``longestSide``.
    ///   - components: The columns and rows of a BlurHash, 1…9 each.
    package init(
        of file: EncodedImage, features: Set<Feature>, components: (columns: Int, rows: Int), token: WorkToken
    ) throws {
        let header = try ImageHeader.inspect(file.bytes)
        let image = try InProcessCodec().decode(
            file.bytes, header: header, plan: DecodePlan(), limits: .none, token: token)
        self.init(SmallImage(try image.interleavedInSRGB(token: token)), features: features, components: components)
    }

    init(_ image: SmallImage, features: Set<Feature>, components: (columns: Int, rows: Int)) {
        let needsPalette = features.contains(.color) || features.contains(.palette)
        self.init(
            palette: needsPalette ? ColorClusters.palette(of: image) : [],
            blurHash: features.contains(.blurHash)
                ? BlurHash.text(of: image, columns: components.columns, rows: components.rows) : nil,
            thumbHash: features.contains(.thumbHash) ? ThumbHash.bytes(of: image) : nil)
    }
}

struct SmallImage {
    let width: Int
    let height: Int
    /// Rows from the top; four components per pixel, alpha not premultiplied.
    let pixels: [UInt8]

    init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(pixels.count == 4 * width * height, "the pixels do not fill the image")
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    init(_ image: DecodedImage) {
        let bytes = image.pixels.array
        let bands = image.bands
        var pixels: [UInt8] = []
        pixels.reserveCapacity(4 * image.size.area)
        for start in stride(from: 0, to: image.size.area * bands, by: bands) {
            let isGray = bands < 3
            pixels.append(bytes[start])
            pixels.append(bytes[isGray ? start : start + 1])
            pixels.append(bytes[isGray ? start : start + 2])
            pixels.append(bands.isMultiple(of: 2) ? bytes[start + bands - 1] : 255)
        }
        self.init(width: image.size.width, height: image.size.height, pixels: pixels)
    }
}
