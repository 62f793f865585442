import Coordination
import Memory
import Recipes
import TestSupport
import Testing

@testable import Imaging

@Suite(.timeLimit(.minutes(1)))
struct ImageEncoderTests {
    @Test(arguments: ImageFormat.written, [1, 2, 3, 4])
    func `pixels of every kind encode to every format`(format: ImageFormat, bands: Int) throws {
        let picture = SampleImage.plain(PixelSize(width: 17, height: 9), [UInt8](repeating: 255, count: bands))
        let file = SharedBytes(ImageFixture.file(picture, as: format))
        #expect(try ImageHeader.inspect(file).size == picture.size)
        guard ImageFormat.trusted.contains(format) else { return }
        let image = try ImageReading.decode(file)
        #expect(image.meanColor.allSatisfy { $0 > 254 })
    }

    @Test func `quality determines the number of bytes`() {
        for format in ImageFormat.written where format.hasQuality {
            let picture = SampleImage.photo(PixelSize(width: 64, height: 64))
            let sizes = [20, 60, 95].map { ImageFixture.file(picture, as: format, quality: $0).count }
            // JPEG XL's lowest qualities differ by a byte or two in either direction.
            #expect(sizes[0] <= sizes[1] + 4 && sizes[1] <= sizes[2])
            #expect(sizes[0] < sizes[2])
        }
    }

    @Test func `the lowest qualities of JPEG XL differ, and a lower one has no more bytes`() {
        let image = SampleImage.photo(PixelSize(width: 256, height: 192))
        let files = (1...14).map { ImageFixture.file(image, as: .jxl, quality: $0) }
        #expect(Set(files).count == files.count)
        // Sizes vary by some bytes where custom distances begin: 10 with libjxl 0.7, 14 with 0.11.
        #expect(zip(files, files.dropFirst()).allSatisfy { $0.count <= $1.count + 14 }, "\(files.map(\.count))")
        #expect(files[0].count < files[5].count && files[5].count < files[13].count)
    }

    @Test(arguments: [7_000, 11_000], [4, 5, 7])
    func `a higher quality of JPEG XL is a smaller distance, in each version`(version: Int, effort: Int) {
        let levels = (1...100)
            .map { JXLLevel(EncoderSettings(quality: $0, effort: effort, bitDepth: 8), version: version) }
        #expect(zip(levels, levels.dropFirst()).allSatisfy { $0.distance > $1.distance })
        #expect(levels[99].distance > 0 && levels[0].distance < 25)
        #expect(levels[0].effort == (effort == 5 && version == 11_000 ? 4 : effort))
        let lossless = EncoderSettings(quality: 100, effort: effort, isLossless: true)
        #expect(JXLLevel(lossless, version: version).effort == (effort == 5 ? 4 : effort))
    }

    /// Colors that subsampled chroma mixes with white; odd sides, and the smallest ones.
    ///
    /// JPEG cannot represent light brighter than white, which lines next to white would need.
    @Test(arguments: [
        (ImageFormat.webp, 64, 48, 0.33), (.webp, 33, 21, 0.33), (.webp, 2, 1, 0.33), (.webp, 1, 1, 0.33),
        (.jpeg, 64, 48, 0.8), (.jpeg, 33, 21, 0.8),
    ])
    func `colored lines keep their light`(format: ImageFormat, width: Int, height: Int, share: Double) throws {
        try ImageLibrary.start()
        let lines = Self.lines(PixelSize(width: width, height: height), of: 1)
        func error(isSharp: Bool) throws -> Double {
            let settings = EncoderSettings(quality: format == .jpeg ? 89 : 100, effort: 2)
            let file = try ImageEncoder.encode(
                DecodedImage(lines), as: format, settings: settings, hasSharpChroma: isSharp)
            let decoded = try ImageReading.decode(file)
            #expect(decoded.size == lines.size && decoded.bands == 3)
            return Self.difference(of: decoded.pixels.array, lines.pixels)
        }
        let (plain, sharp) = (try error(isSharp: false), try error(isSharp: true))
        #expect(sharp <= plain * share, "\(plain), \(sharp)")
    }

    /// Without sharp chroma, JPEG's difference is 1,900.
    @Test(arguments: [(ImageFormat.jpeg, 1_500.0), (.webp, 900)])
    func `colored lines of a JPEG source keep their light`(format: ImageFormat, maximum: Double) throws {
        try ImageLibrary.start()
        let source = ImageFixture.file(
            Self.lines(PixelSize(width: 128, height: 96), of: 2), as: .jpeg, quality: 95)
        var options = RenderingOptions()
        (options.width, options.quality) = (64, 89)
        let answers = try [format, .png].map {
            try ImageReading.decode(thumbnail(SharedBytes(source), options, $0).bytes)
        }
        #expect(answers.map(\.size) == Array(repeating: PixelSize(width: 64, height: 48), count: 2))
        let difference = Self.difference(of: answers[0].pixels.array, answers[1].pixels.array)
        #expect(difference < maximum)
    }

    private static func lines(_ size: PixelSize, of width: Int) -> SampleImage {
        SampleImage(size, bands: 3) { x, y in
            x / width % 3 == 1 ? (y < size.height / 2 ? [208, 0, 0] : [0, 48, 208]) : [255, 255, 255]
        }
    }

    /// The mean difference of light, which is the square of samples.
    private static func difference(of pixels: [UInt8], _ others: [UInt8]) -> Double {
        func light(_ pixels: [UInt8]) -> [Double] {
            stride(from: 0, to: pixels.count, by: 3).map { start in
                zip([0.2126, 0.7152, 0.0722], pixels[start..<start + 3]).reduce(0) { sum, band in
                    sum + band.0 * Double(band.1) * Double(band.1)
                }
            }
        }
        let sum = zip(light(pixels), light(others)).reduce(0) { $0 + abs($1.0 - $1.1) }
        return sum / Double(pixels.count / 3)
    }

    /// Higher efforts and qualities are left to libjxl.
    @Test(arguments: [(true, 3, 80, 5), (true, 1, 60, 5), (false, 3, 80, 6), (false, 3, 91, 5)])
    func `JPEG XL has the coefficients of our JPEG in fewer bytes`(
        isJPEG: Bool, bands: Int, quality: Int, effort: Int
    ) throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 150, height: 101)
        let photo = SampleImage.photo(size)
        let image = SampleImage(size, bands: bands) { x, y in
            let place = 3 * (y * size.width + x)
            return Array(photo.pixels[place..<place + bands])
        }
        func file(_ format: ImageFormat, _ encoderQuality: Int, _ effort: Int) throws -> SharedBytes {
            var settings = EncoderSettings(quality: encoderQuality, effort: effort)
            settings.visualQuality = quality
            return try ImageEncoder.encode(DecodedImage(image), as: format, settings: settings)
        }
        let own = ImageFormat.jxl.encoderQuality(for: quality, pixels: size.area)
        let (jpeg, jxl) = (try file(.jpeg, quality, 0), try file(.jxl, own, effort))
        // Decoders upsample chroma differently.
        let files = try [jpeg, jxl].map { try ImageReading.decode($0, bands: 3).pixels.array }
        let difference = zip(files[0], files[1]).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect((difference < files[0].count) == isJPEG, "\(difference) in \(files[0].count)")
        // A plain gray image has hundreds of bytes, which are mostly headers.
        #expect(!isJPEG || jxl.count < jpeg.count + 32)
    }

    @Test func `pixels that do not fill the image are rejected`() throws {
        try ImageLibrary.start()
        #expect(throws: ImagingError.self) {
            try ImageEncoder.encode(
                pixels: [1, 2], size: PixelSize(width: 1, height: 1), bands: 3, format: .png, quality: nil)
        }
    }

    @Test(arguments: ImageFormat.written)
    func `a placeholder is one color of any size`(format: ImageFormat) throws {
        try ImageLibrary.start()
        let color = Color(red: 10, green: 200, blue: 90)
        for size in [PixelSize(width: 1, height: 1), PixelSize(width: 301, height: 7)] {
            let result = try ImageRenderer.placeholder(color: color, size: size, format: format, token: WorkToken())
            #expect(try ImageHeader.inspect(result.bytes).size == size)
            guard ImageFormat.trusted.contains(format) else { continue }
            let image = try ImageReading.decode(result.bytes)
            #expect(image.isClose(x: 0, y: 0, to: [10, 200, 90] + (image.hasAlpha ? [255] : [])))
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .gif])
    func `the longest side of a format is encodable, and a longer one is not`(format: ImageFormat) throws {
        try ImageLibrary.start()
        let longest = PixelSize(width: format.maximumSide, height: 1)
        let result = try ImageRenderer.placeholder(color: .white, size: longest, format: format, token: WorkToken())
        #expect(result.bytes.count > 0)
        let longer = PixelSize(width: longest.width + 1, height: 1)
        #expect(throws: ImagingError.self) {
            try ImageRenderer.placeholder(color: .white, size: longer, format: format, token: WorkToken())
        }
    }

    @Test func `a placeholder may be transparent if the format supports it`() throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 4, height: 4)
        let clear = try ImageRenderer.placeholder(color: .transparent, size: size, format: .png, token: WorkToken())
        #expect(try ImageReading.decode(clear.bytes).pixel(x: 1, y: 1).last == 0)
        let white = try ImageRenderer.placeholder(color: .transparent, size: size, format: .jpeg, token: WorkToken())
        #expect(try ImageReading.decode(white.bytes).pixel(x: 1, y: 1) == [255, 255, 255])
    }
}
