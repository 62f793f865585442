import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// Images and renders for tests of operations.
enum OperationFixture {
    /// Red, green, blue and gray quarters without noise, from top left to bottom right.
    static func quarters(_ width: Int, _ height: Int) -> SampleImage {
        SampleImage(PixelSize(width: width, height: height), bands: 3) { x, y in
            switch (x < width / 2, y < height / 2) {
            case (true, true): [200, 40, 20]
            case (false, true): [30, 180, 60]
            case (true, false): [10, 60, 220]
            case (false, false): [128, 128, 128]
            }
        }
    }

    /// A plain color; a fourth component is alpha.
    static func plain(_ color: [UInt8], width: Int = 40, height: Int = 30) -> SampleImage {
        .plain(PixelSize(width: width, height: height), color)
    }

    /// Encodes an image, renders the file, and returns the pixels of the result.
    static func render(
        _ image: SampleImage, _ options: RenderingOptions = RenderingOptions(), source: ImageFormat = .png,
        as format: ImageFormat = .png, bands: Int? = nil, change: (inout ImageOperations) -> Void
    ) throws -> DecodedImage {
        let file = SharedBytes(ImageFixture.file(image, as: source, quality: 95))
        return try render(file, options, as: format, bands: bands ?? image.bands, change: change)
    }

    static func render(
        _ file: SharedBytes, _ options: RenderingOptions = RenderingOptions(), as format: ImageFormat = .png,
        bands: Int = 1, change: (inout ImageOperations) -> Void
    ) throws -> DecodedImage {
        var options = options
        change(&options.operations)
        return try ImageReading.decode(thumbnail(file, options, format).bytes, bands: bands)
    }
}

extension DecodedImage {
    func values(_ x: Int, _ y: Int, frame: Int = 0) -> [Int] { pixel(x: x, y: y, frame: frame).map(Int.init) }
}
