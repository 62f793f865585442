import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// The planar lane compared with a full decode by libvips.
@Suite(.timeLimit(.minutes(1)))
struct PlanarGoldenTests {
    /// Even, odd and narrow images, and widths that use every level.
    private static let sizes = [(320, 240), (203, 155), (641, 479), (512, 97)]
    private static let widths = [33, 64, 101, 202]

    /// Waves of light and color in all directions and many sizes, none too fine for encoders.
    private static func landscape(
        width: Int, height: Int, format: ImageFormat = .jpeg, quality: Int = 85
    ) -> SharedBytes {
        func wave(_ phase: Int, _ length: Int) -> Int { abs(phase % (2 * length) - length) * 100 / length }
        let picture = SampleImage(PixelSize(width: width, height: height), bands: 3) { x, y in
            let light = 60 + (wave(3 * x + y, 61) + wave(x + 1_000 - y, 37)) / 2 + wave(y, 90) / 2
            return [light + wave(x, 150) / 4, light, light + wave(y + x / 2, 110) / 3].map { UInt8(min(255, $0)) }
        }
        return SharedBytes(ImageFixture.file(picture, as: format, quality: quality))
    }

    @Test(arguments: sizes)
    func `every size, format and quality matches`(size: (Int, Int)) throws {
        for (quality, sourceQuality) in [(88, 95), (95, 80)] {
            let file = Self.landscape(width: size.0, height: size.1, quality: sourceQuality)
            for width in Self.widths {
                for format in [ImageFormat.jpeg, .webp, .png] {
                    var options = RenderingOptions()
                    (options.width, options.quality) = (width, quality)
                    try expectLikeness(file, options, format)
                }
            }
        }
    }

    @Test(arguments: sizes)
    func `every size matches in linear light`(size: (Int, Int)) throws {
        let file = Self.landscape(width: size.0, height: size.1, quality: 95)
        for width in Self.widths {
            for format in [ImageFormat.jpeg, .webp, .png] {
                var options = RenderingOptions()
                (options.width, options.quality) = (width, 95)
                try expectLikeness(file, options, format, light: .linear)
            }
        }
    }

    @Test(arguments: [Fit.inside, .outside, .cover, .contain, .fill])
    func `every fit and gravity matches`(fit: Fit) throws {
        let file = Self.landscape(width: 301, height: 223)
        // Gravity has no effect otherwise.
        let gravities: [Gravity] =
            fit == .cover || fit == .contain
            ? [.center, .topLeft, .right, .bottom, .focal(x: 333, y: 777)] : [.center]
        for gravity in gravities {
            for (width, height) in [(61, 60), (120, 33), (35, 90)] {
                var options = RenderingOptions()
                (options.width, options.height, options.fit) = (width, height, fit)
                (options.gravity, options.quality) = (gravity, 95)
                for format in [ImageFormat.jpeg, .webp, .png] { try expectLikeness(file, options, format) }
            }
        }
    }

    @Test(arguments: [Gravity.attention, .entropy])
    func `the salient part is found in planes`(gravity: Gravity) throws {
        let size = PixelSize(width: 400, height: 160)
        let picture = SampleImage(size, bands: 3) { x, y in
            let isLively = 300..<360 ~= x && 40..<120 ~= y
            return isLively ? [230, UInt8(90 + (x * 37 + y * 91) % 64), 90] : [128, 128, 128]
        }
        var options = RenderingOptions()
        (options.width, options.height, options.fit, options.gravity) = (40, 40, .cover, gravity)
        let comparison = try LaneComparison(
            SharedBytes(ImageFixture.file(picture, as: .jpeg, quality: 90)), options, .png)
        #expect(try ImageReading.decode(comparison.planar.bytes).meanColor[0] > 140)
    }

    @Test(arguments: [Gravity.left, .right, .center, .focal(x: 700, y: 300)], ResamplingLight.allCases)
    func `a crop keeps the same part in both lanes`(gravity: Gravity, light: ResamplingLight) throws {
        let file = ImageFixture.photo(width: 640, height: 400)
        var options = RenderingOptions()
        (options.width, options.height, options.fit, options.gravity, options.quality) = (60, 120, .cover, gravity, 95)
        // The wrong crop would have a PSNR below 20 dB.
        for format in [ImageFormat.jpeg, .png] {
            #expect(try LaneComparison(file, options, format, light: light).noiseDistance > 33)
        }
    }

    @Test(arguments: 1...8, [(203, 155), (148, 200)])
    func `every orientation matches`(orientation: Int, size: (Int, Int)) throws {
        let file = Self.landscape(width: size.0, height: size.1).array
        let turned = SharedBytes(JPEGWriter.oriented(file, orientation))
        for width in [40, 75, 150] {
            var options = RenderingOptions()
            (options.width, options.quality) = (width, 95)
            for format in [ImageFormat.jpeg, .png] { try expectLikeness(turned, options, format) }
        }
    }

    @Test(arguments: [
        [(1, 1), (1, 1), (1, 1)], [(2, 1), (1, 1), (1, 1)], [(1, 2), (1, 1), (1, 1)], [(2, 2), (1, 1), (1, 1)],
        [(4, 1), (1, 1), (1, 1)], [(4, 2), (1, 1), (1, 1)], [(2, 2), (2, 1), (2, 1)], [(1, 4), (1, 1), (1, 1)],
    ])
    func `every sampling matches`(sampling: [(Int, Int)]) throws {
        for (width, height) in [(320, 240), (229, 173)] {
            var writer = JPEGWriter(width: width, height: height, components: 3)
            writer.sampling = sampling.map { (across: $0.0, down: $0.1) }
            let file = SharedBytes(
                writer.file { column, row in
                    [UInt8(40 + (column * 7 + row * 5) % 160), UInt8(96 + column), UInt8(160 - row * 2)]
                })
            for width in [20, 40, 90, 229] {
                var options = RenderingOptions()
                (options.width, options.quality) = (width, 95)
                for format in [ImageFormat.jpeg, .png] { try expectLikeness(file, options, format) }
            }
        }
    }

    @Test(arguments: [20, 45, 90, 180])
    func `neither position nor color is shifted`(width: Int) throws {
        let size = PixelSize(width: 360, height: 288)
        let diagonal = SampleImage(size, bands: 3) { x, y in x > y + 20 ? [220, 60, 40] : [40, 90, 210] }
        let squares = SampleImage(size, bands: 3) { x, y in
            (x / 72 + y / 72).isMultiple(of: 2) ? [230, 230, 230] : [20, 20, 20]
        }
        for picture in [diagonal, squares] {
            for quality in [80, 95] {
                let file = SharedBytes(ImageFixture.file(picture, as: .jpeg, quality: quality))
                var options = RenderingOptions()
                (options.width, options.quality) = (width, 95)
                for format in [ImageFormat.jpeg, .png] {
                    let comparison = try LaneComparison(file, options, format)
                    #expect(comparison.noiseDistance > 35.5, "\(format) \(quality)")
                }
            }
        }
    }

    @Test func `gray stays gray`() throws {
        let size = PixelSize(width: 300, height: 200)
        let picture = SampleImage(size, bands: 1) { x, y in [UInt8(128 + (x * y / 50) % 100 - 50)] }
        let file = SharedBytes(ImageFixture.file(picture, as: .jpeg))
        var options = RenderingOptions()
        (options.width, options.quality) = (71, 95)
        for format in [ImageFormat.jpeg, .webp, .png] {
            try expectLikeness(file, options, format)
            let result = try ImageReading.decode(LaneComparison(file, options, format).planar.bytes)
            #expect(result.bands == (format == .webp ? 3 : 1))
        }
    }

    @Test(arguments: [1, 6])
    func `a color profile is applied to the reduced image`(orientation: Int) throws {
        // Primaries of a wider gamut than sRGB, and another curve.
        let primaries = [[0.6097, 0.3111, 0.0195], [0.2053, 0.6257, 0.0609], [0.1492, 0.0632, 0.7446]]
        let profile = ICCWriter.profile(primaries: primaries, curve: .gamma(563))
        let plain = Self.landscape(width: 301, height: 223)
        let turned = JPEGWriter.oriented(plain.array, orientation)
        for width in [60, 101, 290] {
            for format in [ImageFormat.jpeg, .webp, .png] {
                var options = RenderingOptions()
                (options.width, options.quality) = (width, 95)
                let comparison = try LaneComparison(SharedBytes(JPEGWriter.profiled(turned, profile)), options, format)
                #expect(comparison.noiseDistance > 36)
                let unprofiled = try LaneComparison(SharedBytes(turned), options, format)
                #expect(comparison.planar.bytes.array != unprofiled.planar.bytes.array)
            }
        }
    }

    @Test(arguments: [(320, 240), (203, 155), (641, 479)])
    func `a WebP source matches`(size: (Int, Int)) throws {
        let file = Self.landscape(width: size.0, height: size.1, format: .webp)
        for width in [33, 64, 101, 202] {
            for format in [ImageFormat.jpeg, .webp, .png] {
                var options = RenderingOptions()
                (options.width, options.quality) = (width, 95)
                try expectLikeness(file, options, format)
            }
        }
    }

    private func expectLikeness(
        _ file: SharedBytes, _ options: RenderingOptions, _ format: ImageFormat, light: ResamplingLight = .gamma
    ) throws {
        let comparison = try LaneComparison(file, options, format, light: light)
        #expect(try ImageHeader.inspect(comparison.planar.bytes).size == comparison.planar.size)
        let distance = comparison.noiseDistance
        // At lower qualities, two encodings of almost the same image differ too much to compare closely.
        let minimum = options.quality == 95 && format != .webp ? 40.0 : 34
        #expect(distance > minimum || comparison.similarity > 0.99, "\(format): \(distance) dB")
    }
}
