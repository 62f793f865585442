import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Images with embedded profiles.
@Suite(.timeLimit(.minutes(1)))
struct EmbeddedProfileTests {
    private static let size = ImageFixture.size
    private static let lights = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
    private static let primaries = ICCWriter.standardPrimaries
    /// Red and green exchanged.
    private static let swapped = [primaries[1], primaries[0], primaries[2]]

    /// Profiles that do not describe RGB images.
    private static let unsupportedFormats = [
        ICCWriter.gray(gamma: 563), ICCWriter.inks,
        // A device link profile.
        Array(ICCWriter.tables([("A2B0", swapped)]).enumerated()).map {
            12..<16 ~= $0 ? Array("link".utf8)[$0 - 12] : $1
        },
    ]

    @Test(arguments: unsupportedFormats, ImageDecoder.Lane.allCases)
    func `a profile of other pixels leaves a JPEG unchanged`(profile: [UInt8], lane: ImageDecoder.Lane) throws {
        let plain = ImageFixture.file(.quarters(Self.size), as: .jpeg, quality: 95)
        let expected = try decode(plain, lane: lane)
        let image = try decode(JPEGWriter.profiled(plain, profile), lane: lane)
        #expect(image.isPlanar == (lane == .planar))
        #expect(image.pixels.array == expected.pixels.array && image.bands == 3 && image.profile == nil)
    }

    @Test(arguments: unsupportedFormats)
    func `a profile of other pixels leaves WebP and AVIF unchanged`(profile: [UInt8]) throws {
        let webp = ImageFixture.file(.quarters(Self.size), as: .webp, quality: 95)
        let profiled = WebPWriter.profiled(webp, width: 64, height: 48, hasAlpha: false, profile)
        #expect(try decode(profiled, lane: .vips).pixels.array == decode(webp, lane: .vips).pixels.array)
        var item = HEIFWriter.Item.coded(.quarters(Self.size))
        let expected = try decode(HEIFWriter([item], primary: 1).file)
        item.properties.append(HEIFBox.profile(profile))
        let image = try decode(HEIFWriter([item], primary: 1).file)
        #expect(image.pixels.array == expected.pixels.array && image.bands == 3)
    }

    @Test func `alpha is not an ink`() throws {
        let webp = ImageFixture.file(.halfTransparent(Self.size), as: .webp)
        let profiled = WebPWriter.profiled(webp, width: 64, height: 48, hasAlpha: true, ICCWriter.inks)
        let image = try decode(profiled)
        #expect(image.isClose(x: 3, y: 3, to: [0, 255, 0, 255]))
        #expect(image.pixel(x: 60, y: 3).last == 0)
    }

    @Test func `a color profile leaves gray unchanged, a gray profile does not`() throws {
        let ramp = ImageFixture.jpegGrayRamp.array
        let expected = try decode(ramp).pixels.array
        #expect(try decode(JPEGWriter.profiled(ramp, ICCWriter.profile(curve: .gamma(563)))).pixels.array == expected)
        #expect(try decode(JPEGWriter.profiled(ramp, ICCWriter.gray(gamma: 256))).profile != nil)
    }

    @Test(arguments: [ImageFormat.jpeg, .png])
    func `gray is converted by its profile`(format: ImageFormat) throws {
        try ImageLibrary.start()
        let plain = ImageFixture.file(SampleImage(Self.size, bands: 1) { _, _ in [128] }, as: .jpeg, quality: 95)
        // Half of the light, and a curve that is almost sRGB's.
        for (gamma, gray) in [(256, 188), (563, 129)] {
            let file = SharedBytes(JPEGWriter.profiled(plain, ICCWriter.gray(gamma: gamma)))
            for width in [48, 64] {
                var options = RenderingOptions()
                options.width = width
                let result = try thumbnail(file, options, format).bytes.array
                #expect(try abs(Int(decode(result, lane: .vips).pixel(x: 9, y: 9)[0]) - gray) < 3)
            }
        }
    }

    @Test(arguments: ["A2B0", "A2B2"])
    func `colors are converted by the available table`(name: String) throws {
        let profile = ICCWriter.tables([(name, Self.swapped)])
        let jpeg = ImageFixture.file(.quarters(Self.size), as: .jpeg, quality: 95)
        let webp = ImageFixture.file(.quarters(Self.size), as: .webp, quality: 95)
        for file in [
            JPEGWriter.profiled(jpeg, profile),
            WebPWriter.profiled(webp, width: 64, height: 48, hasAlpha: false, profile),
        ] {
            let image = try decode(file)
            for (place, color) in zip([(48, 12), (16, 12), (16, 36), (48, 36)], Self.lights) {
                #expect(
                    image.isClose(x: place.0, y: place.1, to: color, tolerance: 16),
                    "\(image.pixel(x: place.0, y: place.1))")
            }
        }
    }

    @Test func `the relative table is used if available`() throws {
        let profile = ICCWriter.tables([("A2B0", Self.swapped), ("A2B1", Self.primaries), ("A2B2", Self.swapped)])
        let image = try decode(JPEGWriter.profiled(ImageFixture.jpeg.array, profile))
        for (place, color) in zip([(16, 12), (48, 12), (16, 36), (48, 36)], Self.lights) {
            #expect(image.isClose(x: place.0, y: place.1, to: color, tolerance: 16))
        }
    }

    @Test(arguments: ["A2B0", "A2B1"])
    func `the black of a profile is mapped to black`(name: String) throws {
        let profile = ICCWriter.tables([(name, Self.primaries)], black: 0.05)
        let dark = ImageFixture.file(.plain(Self.size, [0, 0, 0]), as: .jpeg, quality: 95)
        // Without black point compensation it would be 63.
        #expect(try decode(JPEGWriter.profiled(dark, profile)).isClose(x: 9, y: 9, to: [0, 0, 0], tolerance: 2))
        let bright = ImageFixture.file(.plain(Self.size, [255, 255, 255]), as: .jpeg, quality: 95)
        #expect(
            try decode(JPEGWriter.profiled(bright, profile)).isClose(x: 9, y: 9, to: [255, 255, 255], tolerance: 2))
    }

    /// A CMYK file of one color; `inks` are stored inverted as Adobe does, with or without Adobe's marker.
    private static func inks(_ inks: [UInt8], isAdobe: Bool) -> [UInt8] {
        var writer = JPEGWriter(width: 64, height: 48, components: 4)
        writer.adobeTransform = isAdobe ? 0 : nil
        return writer.file { _, _ in inks.map { 255 - $0 } }
    }

    /// Browsers, libvips and Pillow treat inks as inverted with or without the marker.
    @Test(arguments: [[0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 255, 0], [0, 0, 0, 255]] as [[UInt8]], [true, false])
    func `inks are converted by their profile, or by that of coated paper`(inks: [UInt8], isAdobe: Bool) throws {
        let file = Self.inks(inks, isAdobe: isAdobe)
        // The test's profile has black, and three inks that each absorb a third of the light.
        let light = inks[3] > 0 ? 0 : Double(3 - inks.prefix(3).count { $0 > 0 }) / 3
        let gray = SRGBCurve.component(of: light)
        let profiled = try decode(JPEGWriter.profiled(file, ICCWriter.inks))
        #expect(profiled.bands == 3 && profiled.isClose(x: 9, y: 9, to: [gray, gray, gray], tolerance: 3))
        let plain = try decode(file).pixel(x: 9, y: 9).map(Int.init)
        switch inks {
        case [0, 0, 0, 0]: #expect(plain.allSatisfy { $0 > 250 })
        case [255, 0, 0, 0]: #expect(plain[0] < 60 && plain[2] > 180)
        case [0, 255, 255, 0]: #expect(plain[0] > 200 && plain[2] < 80)
        default: #expect(plain.allSatisfy { $0 < 60 })
        }
    }

    /// Profiles that declare more data than they contain, or contain far too much.
    private static let hostile: [[UInt8]] = {
        func patched(_ profile: [UInt8], behind name: String, at offset: Int, _ bytes: [UInt8]) -> [UInt8] {
            let name = Array(name.utf8)
            guard let place = profile.indices.dropLast(3).last(where: { profile[$0..<$0 + 4].elementsEqual(name) })
            else {
                return profile
            }
            var patched = profile
            patched.replaceSubrange(place + offset..<place + offset + bytes.count, with: bytes)
            return patched
        }
        let (table, curves) = (ICCWriter.tables([("A2B0", primaries)]), ICCWriter.profile(curve: .gamma(563)))
        let (enormous, whole): ([UInt8], Int) = ([0xFF, 0xFF, 0xFF, 0xFF], 132)
        return [
            // 255 grid points in three dimensions, and tables with 15 inputs.
            patched(table, behind: "mft2", at: 10, [255]), patched(table, behind: "mft2", at: 8, [15]),
            patched(table, behind: "mft2", at: 48, [255, 255, 255, 255]),
            patched(curves, behind: "curv", at: 8, enormous),
            // An endless tag table, and tags that overlap the profile itself.
            Array(table[..<128]) + enormous + table[whole...],
            patched(table, behind: "A2B0", at: 4, 0.bigEndian32 + table.count.bigEndian32),
            patched(curves, behind: "rTRC", at: 4, 128.bigEndian32 + enormous),
        ]
    }()

    @Test func `an endless chain of steps is skipped for the table beside it`() throws {
        let profile = ICCWriter.chain(count: 7_000, primaries: Self.swapped)
        let start = threadTime
        let image = try decode(JPEGWriter.profiled(ImageFixture.jpeg.array, profile))
        #expect(threadTime - start < .seconds(1))
        for (place, color) in zip([(48, 12), (16, 12), (16, 36), (48, 36)], Self.lights) {
            #expect(image.isClose(x: place.0, y: place.1, to: color))
        }
    }

    @Test(arguments: hostile)
    func `a hostile profile costs a bounded time`(profile: [UInt8]) throws {
        let file = SharedBytes(JPEGWriter.profiled(ImageFixture.jpeg.array, profile))
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(file)
        let start = threadTime
        for gamut in [DecodedGamut.mapped, .displayP3] {
            let image = try? ImageDecoder.decode(
                file, header: header, plan: DecodePlan(gamut: gamut), limits: .none, token: WorkToken())
            #expect(image.map { $0.size == Self.size } ?? true)
        }
        #expect(threadTime - start < .seconds(2))
    }

    @Test func `a description that assigns planes another kind of color is rejected`() throws {
        let gray = try #require(ColorProfile(SharedBytes(ICCWriter.gray(gamma: 563))))
        let color = try #require(ColorProfile(SharedBytes(ICCWriter.profile(curve: .gamma(563)))))
        let part = DecodedDescription.PlaneShape(size: Self.size, region: Plane.Region(width: 64, height: 48))
        func describe(_ planes: Int, _ profile: ColorProfile) throws {
            let parts = [DecodedDescription.PlaneShape](repeating: part, count: planes)
            let description = DecodedDescription(size: Self.size, bands: planes, planes: parts, profile: profile)
            let samples = [Plane].stacked(parts.map { ($0.size, $0.region) }).byteCount
            _ = try DecodedImage(description, pixels: SharedBytes([UInt8](repeating: 0, count: samples)))
        }
        try describe(1, gray)
        try describe(3, color)
        #expect(throws: ImagingError.self) { try describe(3, gray) }
        #expect(throws: ImagingError.self) { try describe(1, color) }
    }

    private func decode(_ file: [UInt8], lane: ImageDecoder.Lane = .preferred) throws -> DecodedImage {
        try ImageLibrary.start()
        let file = SharedBytes(file)
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken(), lane: lane)
    }
}
