import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PlanarLaneTests {
    @Test(arguments: [
        ImageFixture.jpeg, .jpegGrayRamp, .jpegProgressive, .webp, .jpegStandardProfile, .jpegSwappedPrimaries,
        .jpegOrientation2, .jpegOrientation6,
        .jpegOrientation8,
    ])
    func `photographs are decoded to planes`(fixture: ImageFixture) throws {
        #expect(try decode(fixture.bytes).isPlanar)
    }

    @Test(arguments: [
        ImageFixture.jpegAdobeCMYK, .png, .pngGrayRamp, .webpHalfTransparent, .webpAnimated,
        .gif,
    ])
    func `other images are decoded by libvips`(fixture: ImageFixture) throws {
        #expect(try !decode(fixture.bytes).isPlanar)
    }

    @Test func `a JPEG of red, green and blue, or of odd samplings, is decoded by libvips`() throws {
        var writer = JPEGWriter(width: 64, height: 48, components: 3)
        writer.adobeTransform = 0
        let colours = SharedBytes(writer.file { _, _ in [200, 100, 50] })
        #expect(try !decode(colours).isPlanar)
        #expect(try decode(colours).isClose(x: 9, y: 9, to: [200, 100, 50]))
        writer.adobeTransform = nil
        for sampling in [[(1, 1), (2, 1), (2, 1)], [(2, 1), (1, 1), (2, 1)]] {
            writer.sampling = sampling.map { (across: $0.0, down: $0.1) }
            let image = try decode(SharedBytes(writer.file { _, _ in [200, 128, 128] }))
            #expect(!image.isPlanar)
            #expect(image.isClose(x: 9, y: 9, to: [200, 200, 200]))
        }
    }

    @Test func `a lossless WebP is decoded by libvips, which preserves every value`() throws {
        let picture = LosslessWebPWriter(width: 64, height: 48, red: 37, greens: (5, 211), blue: 158)
        let image = try decode(SharedBytes(picture.file))
        #expect(!image.isPlanar)
        for x in 0..<64 { #expect(image.pixel(x: x, y: 20) == [37, x < 32 ? 5 : 211, 158]) }
    }

    @Test func `a side too short for its level is decoded by libvips`() throws {
        let file = ImageFixture.photo(width: 400, height: 60)
        #expect(try decode(file).isPlanar)
        #expect(try decode(file, level: 2).isPlanar)
        #expect(try !decode(file, level: 4).isPlanar)
    }

    @Test func `planes cost their memory`() throws {
        let colour = ImageFixture.photo(width: 640, height: 480)
        #expect(try decode(colour).byteCount == 640 * 480 * 3 / 2)
        #expect(try decode(colour, level: 2).byteCount == 320 * 240 + 2 * 192 * 120)
        let picture = SampleImage.photo(PixelSize(width: 640, height: 480))
        let full = SharedBytes(ImageFixture.file(picture, as: .jpeg, quality: 95))
        #expect(try decode(full).byteCount == 640 * 480 * 3)
        let profile = ICCWriter.profile(curve: .gamma(563))
        let profiled = SharedBytes(JPEGWriter.profiled(colour.array, profile))
        let numbers = try #require(ColorProfile(SharedBytes(profile)))
        #expect(try decode(profiled).byteCount == 640 * 480 * 3 / 2 + numbers.file.count)
        #expect(numbers.file.count < profile.count)
        let gray = SharedBytes(ImageFixture.file(.grayRamp(PixelSize(width: 640, height: 480)), as: .jpeg))
        #expect(try decode(gray).byteCount == 640 * 480)
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .png])
    func `the same source and plan make the same bytes, regardless of earlier renders`(format: ImageFormat) async throws
    {
        let files = [ImageFixture.photo(width: 320, height: 240), ImageFixture.photo(width: 301, height: 255)]
        let images = try files.map { try decode($0) }
        func plan(_ number: Int) -> RenderPlan {
            let size = PixelSize(width: 60 + number * 7 % 53, height: 50 + number % 31)
            return RenderPlan(
                source: FrameShape(size: size, hasAlpha: false),
                steps: [ResampleStep(to: size), CropStep(x: 3, y: 5, size: PixelSize(width: 33, height: 41))],
                format: format, quality: 70 + number % 30)
        }
        let expected = try (0..<30).map { number in
            try ImageRenderer.render(images[number % 2], plan: plan(number), token: WorkToken()).bytes.array
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    for step in 0..<30 {
                        let number = (step * 7 + thread * 11) % 30
                        let image = step.isMultiple(of: 5) ? try decode(files[number % 2]) : images[number % 2]
                        let bytes = try ImageRenderer.render(image, plan: plan(number), token: WorkToken()).bytes.array
                        #expect(bytes == expected[number])
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a canceled decode or render of planes reports its cancellation`() throws {
        let file = ImageFixture.photo(width: 320, height: 240)
        let image = try decode(file)
        for format in [ImageFormat.jpeg, .webp, .png] {
            let plan = RenderPlan(resizedSize: PixelSize(width: 90, height: 60), format: format, quality: 80)
            let token = WorkToken()
            token.cancel()
            #expect(throws: CancellationError.self) { try ImageRenderer.render(image, plan: plan, token: token) }
        }
    }

    @Test(arguments: [ImageFormat.jpeg, .webp], [0.05, 0.2, 0.5, 0.9, 0.99, 1])
    func `both lanes treat a damaged file alike`(format: ImageFormat, share: Double) throws {
        for level in [1, 8] { try expectSameJudgement(format, share: share, level: level) }
    }

    private func expectSameJudgement(_ format: ImageFormat, share: Double, level: Int) throws {
        let whole = ImageFixture.photo(width: 320, height: 240, format: format).array
        let cut = SharedBytes(whole.prefix(Int(Double(whole.count) * share)))
        #expect(try outcome(cut, level, .planar) == outcome(cut, level, .vips))
        #expect(try outcome(cut, level, .planar) == (share == 1))
        var damaged = whole
        let start = whole.count / 2
        for index in start..<start + 20 { damaged[index] = UInt8(truncatingIfNeeded: index &* 37 & 0x7F) }
        #expect(try outcome(SharedBytes(damaged), level, .planar) == outcome(SharedBytes(damaged), level, .vips))
        let withoutEnd = SharedBytes(whole.dropLast(2))
        #expect(try outcome(withoutEnd, level, .planar) == outcome(withoutEnd, level, .vips))
    }

    @Test(arguments: [0.3, 0.6, 0.99], [1, 2, 8])
    func `a truncated progressive file fails at every level, as in libvips`(share: Double, level: Int) throws {
        var writer = JPEGWriter(width: 320, height: 240, components: 3)
        (writer.isProgressive, writer.scans) = (true, 4)
        let whole = writer.file { [UInt8($0 * 5), UInt8(100 + $1), UInt8(200 - $0)] }
        let cut = SharedBytes(whole.prefix(Int(Double(whole.count) * share)))
        #expect(try !outcome(cut, level, .planar))
        #expect(try !outcome(cut, level, .vips))
    }

    /// Decodes the file in a lane; returns false if the file is undecodable.
    private func outcome(_ file: SharedBytes, _ level: Int, _ lane: ImageDecoder.Lane) throws -> Bool {
        do {
            _ = try decode(file, level: level, lane: lane)
            return true
        } catch ImagingError.cannotDecode {
            return false
        }
    }

    private func decode(
        _ file: SharedBytes, level: Int = 1, lane: ImageDecoder.Lane = .planar
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(file)
        return try ImageDecoder.decode(
            file, header: header, plan: DecodePlan(level: level), limits: ImagingLimits(), token: WorkToken(),
            lane: lane)
    }
}
