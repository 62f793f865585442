package import Coordination
import Memory

/// Facts about how an image looks, computed from its pixels.
package struct ImageAppearance: Sendable {
    /// A fact that is computed from the pixels.
    package enum Feature: String, CaseIterable, Sendable {
        /// The color that covers most of the image.
        case color
        /// The colors that cover it.
        case palette
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
    }

    /// A color of the palette and the part of the visible image that it stands for.
    package struct Entry: Sendable, Equatable {
        /// The color, opaque.
        package let color: Color
        /// Its share in ten-thousandths.
        package let share: Int
    }

    /// At most six colors, the most frequent first; empty if nothing is visible.
    ///
    /// Their shares sum to 10000.
    package let palette: [Entry]
    /// The BlurHash; nil if it was not asked for.
    package let blurHash: String?
    /// The ThumbHash; nil if it was not asked for.
    package let thumbHash: [UInt8]?

    /// The longest side of the images whose appearance is computed: ThumbHash allows no more, and the others need no
    /// more.
    package static let longestSide = 100

    /// The appearance of a file that the service made, whose sides are at most ``longestSide``.
    ///
    /// - Parameters:
    ///   - file: A lossless still.
    ///   - features: The facts to compute.
    ///   - components: The columns and rows of a BlurHash, 1…9 each.
    ///   - token: Tells whether to stop.
    /// - Throws: ``ImagingError``, or the error of `token`.
    package init(
        of file: EncodedImage, features: Set<Feature>, components: (columns: Int, rows: Int), token: WorkToken
    ) throws {
        let header = try ImageHeader.inspect(file.bytes)
        let image = try InProcessCodec().decode(
            file.bytes, header: header, plan: DecodePlan(), limits: .none, token: token)
        self.init(SmallImage(try image.interleaved(token: token)), features: features, components: components)
    }

    init(_ image: SmallImage, features: Set<Feature>, components: (columns: Int, rows: Int)) {
        let needsPalette = features.contains(.color) || features.contains(.palette)
        palette = needsPalette ? ColorClusters.palette(of: image) : []
        blurHash =
            features.contains(.blurHash)
            ? BlurHash.text(of: image, columns: components.columns, rows: components.rows) : nil
        thumbHash = features.contains(.thumbHash) ? ThumbHash.bytes(of: image) : nil
    }
}

/// The pixels of a small image as red, green, blue and alpha.
struct SmallImage {
    let width: Int
    let height: Int
    /// Rows from the top, four components a pixel, alpha not multiplied in.
    let pixels: [UInt8]

    /// An image of `width` by `height` pixels of four components.
    init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(pixels.count == 4 * width * height, "the pixels do not fill the image")
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// The pixels of the first frame of an interleaved image.
    init(_ image: DecodedImage) {
        let (bytes, bands) = (image.pixels.array, image.bands)
        var pixels: [UInt8] = []
        pixels.reserveCapacity(4 * image.size.area)
        for start in stride(from: 0, to: image.size.area * bands, by: bands) {
            let isGrey = bands < 3
            pixels.append(bytes[start])
            pixels.append(bytes[isGrey ? start : start + 1])
            pixels.append(bytes[isGrey ? start : start + 2])
            pixels.append(bands.isMultiple(of: 2) ? bytes[start + bands - 1] : 255)
        }
        self.init(width: image.size.width, height: image.size.height, pixels: pixels)
    }
}
