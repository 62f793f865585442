import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// AVIF files written with libaom and our own boxes, and read by our own header walk.
@Suite(.timeLimit(.minutes(1)))
struct AVIFWritingTests {
    private static let settings = [8, 10].map { EncoderSettings(quality: 90, effort: 0, bitDepth: $0) }

    /// A gradient of colors and, with 2 or 4 bands, of alpha.
    private static func slope(_ size: PixelSize, bands: Int) -> SampleImage {
        SampleImage(size, bands: bands) { x, y in
            let (across, down) = (255 * x / max(1, size.width - 1), 255 * y / max(1, size.height - 1))
            let color = bands < 3 ? [across] : [across, down, 128]
            return (color + (bands % 2 == 0 ? [down] : [])).map(UInt8.init)
        }
    }

    private static func file(_ image: SampleImage, _ settings: EncoderSettings) throws -> SharedBytes {
        try ImageLibrary.start()
        let pixels = DecodedImage(image)
        return try ImageEncoder.encode(pixels, as: .avif, settings: settings)
    }

    private func decode(_ file: SharedBytes, _ plan: DecodePlan = DecodePlan()) throws -> DecodedImage {
        try ImageDecoder.decode(file, header: .inspect(file), plan: plan, limits: .none, token: WorkToken())
            .interleavedInSRGB(token: WorkToken())
    }

    /// The largest difference of a component between the pixels of two files.
    private func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        zip(one, other).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    @Test(
        arguments: [(1, 1), (1, 37), (53, 1), (2, 2), (67, 41), (160, 120)].map {
            PixelSize(width: $0.0, height: $0.1)
        },
        settings)
    func `pixels of every kind and size round-trip`(size: PixelSize, settings: EncoderSettings) throws {
        for bands in 1...4 {
            let image = Self.slope(size, bands: bands)
            let file = try Self.file(image, settings)
            let header = try ImageHeader.inspect(file)
            #expect(header.format == .avif && header.size == size && header.bands == bands)
            #expect(header.hasAlpha == (bands % 2 == 0) && header.bitDepth == settings.bitDepth)
            let decoded = try decode(file)
            #expect(decoded.bands == bands)
            #expect(distance(decoded.pixels.array, image.pixels) < 24, "\(bands) bands")
        }
    }

    @Test(arguments: [8, 10], 1...4)
    func `quality 100 loses almost nothing`(bits: Int, bands: Int) throws {
        let image = Self.slope(PixelSize(width: 96, height: 64), bands: bands)
        let file = try Self.file(image, EncoderSettings(quality: 100, effort: 1, bitDepth: bits))
        #expect(distance(try decode(file).pixels.array, image.pixels) <= 3)
    }

    @Test(arguments: [1, 3], [1, 50, 60, 70, 90])
    func `a higher quality makes more bytes`(bands: Int, quality: Int) throws {
        func count(_ quality: Int) throws -> Int {
            let photo = SampleImage.photo(PixelSize(width: 96, height: 96))
            let image =
                bands == 3 ? photo : SampleImage(photo.size, bands: 1) { x, y in [photo.pixels[3 * (96 * y + x)]] }
            return try Self.file(image, EncoderSettings(quality: quality, effort: 1, bitDepth: 10)).count
        }
        #expect(try count(quality) < count(quality + 10))
    }

    @Test func `a higher effort is slower, for stills and animations`() {
        for isStill in [true, false] {
            let speeds = (0...9).map { AVIFEffort(effort: $0).speed(isStill: isStill) }
            #expect(speeds == speeds.sorted(by: >) && speeds.allSatisfy { 0...9 ~= $0 } && speeds[0] == 9)
        }
        #expect([1, 60, 99, 100].map { AVIFEffort.level(for: $0, isStill: true) } == [63, 27, 3, 0])
        #expect(AVIFEffort.level(for: 100, isStill: false) == 1)
        let tuned = (0...63).map(AVIFEffort.tunedLevel)
        #expect(tuned == tuned.sorted() && tuned.first == 0 && tuned.last == 63)
    }

    @Test func `another bit depth than ten applies only on request`() throws {
        let header = try ImageHeader.inspect(ImageFixture.png.bytes)
        func plan(_ format: ImageFormat, _ bits: Int?) throws -> RenderPlan {
            var options = RenderingOptions()
            options.avifBitDepth = bits
            return try RenderPlan(options: options, format: format, source: header, limits: ImagingLimits())
        }
        #expect(try plan(.avif, 10) == plan(.avif, nil) && plan(.avif, nil).bitDepth == 10)
        let eight = try plan(.avif, 8)
        #expect(try eight.bitDepth == 8 && eight != plan(.avif, nil))
        #expect(eight.keyTexts.contains("avif.3 64 bits 8"))
        #expect(try plan(.webp, 8) == plan(.webp, nil))
    }
}

@Suite(.timeLimit(.minutes(1)))
struct AVIFAnimationTests {
    private static let size = PixelSize(width: 64, height: 48)
    private static let colors: [[UInt8]] = [[200, 30, 30, 255], [30, 200, 30, 128], [30, 30, 200, 0]]

    /// A gray level (the red component) or the colors, and alpha if there is any.
    private static func components(of color: [UInt8], _ bands: Int) -> [UInt8] {
        let opaque: [UInt8] = bands < 3 ? [color[0]] : Array(color.prefix(3))
        return bands % 2 == 0 ? opaque + [color[3]] : opaque
    }

    private func file(bands: Int, delays: [Int] = [40, 1_000, 0], loop: Int, quality: Int = 80) throws -> SharedBytes {
        try ImageLibrary.start()
        let pixels = Self.colors.flatMap { color in
            (0..<Self.size.area).flatMap { _ in Self.components(of: color, bands) }
        }
        return try unsafe SharedBytes(pixels).withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(
                bytes, width: Self.size.width, height: 3 * Self.size.height, bands: bands)
            image.markAnimated(frameHeight: Self.size.height, delays: delays, loop: loop)
            let settings = EncoderSettings(quality: quality, effort: 1, bitDepth: 10)
            return try image.saved(as: .avif, options: VipsSaveOptions(settings: settings, token: WorkToken()))
        }
    }

    private func decode(_ file: SharedBytes, _ plan: DecodePlan) throws -> DecodedImage {
        try ImageDecoder.decode(file, header: .inspect(file), plan: plan, limits: .none, token: WorkToken())
            .interleavedInSRGB(token: WorkToken())
    }

    private func isNear(_ pixel: [UInt8], _ color: some Sequence<UInt8>) -> Bool {
        zip(pixel, color).allSatisfy { abs(Int($0) - Int($1)) < 12 }
    }

    @Test(arguments: 1...4, [0, 1, 3])
    func `frames, delays and loops are preserved`(bands: Int, loop: Int) throws {
        let file = try file(bands: bands, loop: loop)
        let header = try ImageHeader.inspect(file)
        #expect(header.frames == 3 && header.size == Self.size && header.hasAlpha == (bands % 2 == 0))
        let image = try decode(file, DecodePlan(isAnimated: true))
        #expect(image.frames == 3 && image.delays == [40, 1_000, 100] && image.loop == loop && image.bands == bands)
        for (frame, color) in Self.colors.enumerated() {
            let expected = Self.components(of: color, bands)
            #expect(isNear(image.pixel(x: 30, y: 20, frame: frame), expected), "frame \(frame)")
        }
        // Later frames depend on earlier ones.
        let last = try decode(file, DecodePlan(page: 2))
        #expect(last.pixel(x: 30, y: 20) == image.pixel(x: 30, y: 20, frame: 2))
    }

    @Test func `colors of premultiplied frames are divided by alpha`() throws {
        var bytes = try file(bands: 4, loop: 0).array
        // Turn the first track's edit list into a reference.
        for (name, other) in [("edts", "tref"), ("elst", "prem")] {
            bytes.replaceSubrange(try #require(bytes.firstRange(of: Array(name.utf8))), with: Array(other.utf8))
        }
        let image = try decode(SharedBytes(bytes), DecodePlan(isAnimated: true))
        #expect(isNear(image.pixel(x: 30, y: 20, frame: 0), Self.colors[0]))
        #expect(isNear(image.pixel(x: 30, y: 20, frame: 1), [60, 255, 60, 128]))
    }

    @Test func `quality 100 loses little in every frame`() throws {
        try ImageLibrary.start()
        let size = PixelSize(width: 96, height: 80)
        // A small image moves over a photograph.
        let photo = SampleImage.photo(size)
        let frames = (0..<8).map { frame in
            SampleImage(size, bands: 3) { x, y in
                let isInside = 8 * frame..<8 * frame + 30 ~= x && 20..<50 ~= y
                let (x, y) = isInside ? (95 - x, 79 - y) : (x, y)
                return Array(photo.pixels[3 * (size.width * y + x)..<3 * (size.width * y + x) + 3])
            }
        }
        let pixels = frames.flatMap(\.pixels)
        let file = try unsafe SharedBytes(pixels).withUnsafeBytes { bytes throws in
            let image = try unsafe VipsImage.wrapping(bytes, width: size.width, height: 8 * size.height, bands: 3)
            image.markAnimated(frameHeight: size.height, delays: [Int](repeating: 40, count: 8), loop: 0)
            let settings = EncoderSettings(quality: 100, effort: 1, bitDepth: 8)
            return try image.saved(as: .avif, options: VipsSaveOptions(settings: settings, token: WorkToken()))
        }
        let decoded = try decode(file, DecodePlan(isAnimated: true)).pixels.array
        #expect(zip(decoded, pixels).allSatisfy { abs(Int($0) - Int($1)) < 20 })
    }

    @Test func `the first frame is the file's still`() throws {
        let file = try file(bands: 4, loop: 0)
        let items = try #require(file.withBytes { bytes throws(ImagingError) in try HEIFItems.all(bytes) })
        let still = try HEIFPixels(items, in: file, token: WorkToken()).load(
            #require(items.primary), hasAlpha: true, keepsBits: false)
        #expect(still.bands == 4 && isNear(Array(still.pixels.array.prefix(4)), Self.colors[0]))
    }

    @Test(arguments: [ImageFixture.gifAnimated, .webpAnimated])
    func `an animation of another format becomes one of AVIF`(source: ImageFixture) throws {
        var options = RenderingOptions()
        (options.width, options.isAnimated) = (32, true)
        let result = try thumbnail(source.bytes, options, .avif)
        let image = try decode(result.bytes, DecodePlan(isAnimated: true))
        #expect(image.frames == 3 && image.delays == [100, 200, 300] && image.loop == 5)
        #expect(image.size == PixelSize(width: 32, height: 24))
    }

    @Test func `stopped work makes no animation`() throws {
        let token = WorkToken()
        let image = try InProcessCodec().decode(
            ImageFixture.gifAnimated.bytes, header: .inspect(ImageFixture.gifAnimated.bytes),
            plan: DecodePlan(isAnimated: true), limits: .none, token: WorkToken())
        token.cancel()
        #expect(throws: (any Error).self) {
            try unsafe image.pixels.withUnsafeBytes { bytes throws in
                let all = try unsafe VipsImage.wrapping(
                    bytes, width: image.size.width, height: 3 * image.size.height, bands: image.bands)
                all.markAnimated(frameHeight: image.size.height, delays: image.delays, loop: 0)
                _ = try all.saved(
                    as: .avif,
                    options: VipsSaveOptions(settings: EncoderSettings(quality: 50, effort: 1), token: token))
            }
        }
    }
}
