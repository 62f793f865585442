import Coordination
import Crypto
import Glibc
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// PQ and HLG sources, whose light may be brighter than white.
@Suite(.timeLimit(.minutes(1)))
struct ToneMappingTests {
    /// Light relative to the reference white of 203 cd/m².
    typealias Light = [Double]

    /// The PQ sample of a light value.
    private static func pq(_ light: Double) -> Double {
        let power = pow(light * 203 / 10_000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// The tone curve of browsers, inverted by bisection.
    private static func toned(_ light: Double, peak: Double) -> Double {
        let white = 1 - 0.5 * min(1, log2(peak) / log2(1_000 / 203.0))
        if light <= 1 { return light * white }
        if light >= peak { return 1 }
        let (x, y) = (0.35 + 0.65 / white, 0.35 * white + 0.65)
        func point(_ t: Double, _ first: Double, _ middle: Double, _ last: Double) -> Double {
            (1 - t) * (1 - t) * first + 2 * t * (1 - t) * middle + t * t * last
        }
        var (low, high) = (0.0, 1.0)
        for _ in 0..<60 {
            let t = (low + high) / 2
            if point(t, 1, x, peak) < light { low = t } else { high = t }
        }
        return point(low, white, y, 1)
    }

    /// The sRGB pixel of BT.2020 light (ITU-R BT.2087).
    private static func pixel(_ light: Light, peak: Double) -> [Int] {
        let maximum = light.max() ?? 0
        let factor = maximum > 0 ? toned(maximum, peak: peak) / maximum : 1
        let matrix = [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
        return matrix.map { row in
            let value = min(max(zip(row, light).reduce(0) { $0 + $1.0 * $1.1 * factor }, 0), 1)
            return Int((255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055)).rounded())
        }
    }

    /// A PNG file with one row of these samples, 0…1.
    private static func file(
        _ samples: [[Double]], transfer: UInt8, peak: Int = 0, depth: Int = 16, alpha: Int? = nil
    ) -> [UInt8] {
        var writer = PNGWriter(width: samples.count, height: 1, colorType: alpha == nil ? .rgb : .rgba)
        writer.bitDepth = depth
        writer.chunks = [("cICP", [9, transfer, 0, 1])]
        if peak > 0 { writer.chunks.append(("cLLI", (10_000 * peak).bigEndian32 + [0, 0, 0, 0])) }
        let whole = Double(1 << depth - 1)
        return writer.file { x, _ in samples[x].map { Int(($0 * whole).rounded()) } + (alpha.map { [$0] } ?? []) }
    }

    private static func pixels(_ file: [UInt8], level: Int = 1) throws -> DecodedImage {
        try ImageDecoder.decode(
            SharedBytes(file), header: inspect(file), plan: DecodePlan(level: level), limits: .none, token: WorkToken())
    }

    private static let colors: [Light] = [
        [0, 0, 0], [0.05, 0.05, 0.05], [0.18, 0.18, 0.18], [1, 1, 1], [2, 2, 2], [4.9, 4.9, 4.9], [30, 30, 30],
        [1, 0.2, 0.1], [0.1, 0.6, 0.2], [0.02, 0.05, 0.9], [3, 2.5, 0.4], [0.5, 0.4, 0.35],
    ]

    @Test(arguments: [0, 203, 400, 1_000, 4_000])
    func `PQ is shown as in browsers`(peak: Int) throws {
        let image = try Self.pixels(
            Self.file(Self.colors.map { $0.map(Self.pq) }, transfer: 16, peak: peak))
        #expect(image.bands == 3)
        for (x, color) in Self.colors.enumerated() {
            let expected = Self.pixel(color, peak: Double(peak == 0 ? 1_000 : peak) / 203)
            #expect(image.isClose(x: x, y: 0, to: expected, tolerance: 1), "\(color) of \(peak)")
        }
    }

    @Test func `eight bits are mapped like sixteen, and alpha is unchanged`() throws {
        let samples = Self.colors.map { $0.map(Self.pq) }
        let image = try Self.pixels(Self.file(samples, transfer: 16, depth: 8, alpha: 77))
        for (x, color) in Self.colors.enumerated() {
            let rounded = samples[x].map { ($0 * 255).rounded() / 255 }
            // Light of the rounded sample by the inverse of PQ's definition.
            let light = rounded.map { sample -> Double in
                let power = pow(sample, 1 / 78.84375)
                return pow(max(0, power - 0.8359375) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125) * 10_000
                    / 203
            }
            #expect(
                image.isClose(x: x, y: 0, to: Self.pixel(light, peak: 1_000 / 203) + [77], tolerance: 1), "\(color)")
        }
    }

    @Test func `HLG passes its OOTF first`() throws {
        // Samples of BT.2408: reference white 75 %, gray card 38 %.
        let samples = [0, 0.1, 0.38, 0.5, 0.75, 0.9, 1]
        let image = try Self.pixels(Self.file(samples.map { [$0, $0, $0] }, transfer: 18))
        for (x, sample) in samples.enumerated() {
            let scene =
                sample <= 0.5 ? sample * sample / 3 : (exp((sample - 0.55991073) / 0.17883277) + 0.28466892) / 12
            let light = pow(scene, 1.2) * 1_000 / 203
            #expect(image.isClose(x: x, y: 0, to: Self.pixel([light, light, light], peak: 1_000 / 203), tolerance: 1))
        }
    }

    @Test(arguments: [UInt8(16), 18])
    func `a ramp keeps its order, and gray stays gray`(transfer: UInt8) throws {
        let last = transfer == 16 ? Self.pq(1_000 / 203) : 1
        let ramp = (0..<500).map { [Double](repeating: Double($0) / 499 * last, count: 3) }
        let image = try Self.pixels(Self.file(ramp, transfer: transfer))
        var before = 0
        for x in ramp.indices {
            let pixel = image.pixel(x: x, y: 0).map(Int.init)
            #expect(pixel[1] >= before && abs(pixel[0] - pixel[1]) <= 1 && abs(pixel[2] - pixel[1]) <= 1)
            before = pixel[1]
        }
        #expect(before == 255)
    }

    @Test func `tones are mapped before pixels are averaged`() throws {
        // One pixel as bright as the sun among dark ones.
        let sun = [[Double]](repeating: [0.1, 0.1, 0.1].map(Self.pq), count: 15) + [[40, 40, 40].map(Self.pq)]
        var writer = PNGWriter(width: 16, height: 16, colorType: .rgb)
        writer.bitDepth = 16
        writer.chunks = [("cICP", [9, 16, 0, 1])]
        let file = writer.file { x, y in sun[x == 15 && y == 15 ? 15 : 0].map { Int(($0 * 65_535).rounded()) } }
        let image = try Self.pixels(file, level: 8)
        let dark = Self.pixel([0.1, 0.1, 0.1], peak: 1_000 / 203)[0]
        #expect(image.isClose(x: 0, y: 0, to: [dark, dark, dark], tolerance: 1))
        let mixed = Int(image.pixel(x: 1, y: 1)[0])
        #expect(abs(mixed - (63 * dark + 255) / 64) <= 2)
    }

    /// Lossy and lossless JPEG XL files with PQ: four colors of 8×8 pixels each.
    private static let jpegXL = [
        "_woBBn4S8ugRABKIAOQBf3loAQBQoTLKuMHLuZ4vP3RYTNu4ztBW2xaWJIqMY5N0AocksRaRtxtDhHgAgCiJObSreSB_gblFpEfHFK3SAxVSIK1H9"
            + "aiLF-PFKMbrXbyUV06BhFPxt3DzLFvIYQJrl7ukDF3kI1Kgtiweq7R9pVioProUDQftBA",
        "AAAADEpYTCANCocKAAAAFGZ0eXBqeGwgAAAAAGp4bCAAAAAJanhsbAoAAABLanhsY_8KAYaAH4A8esThAAAAABAIAgEAtABLGJOOg4MAOCvyYrBg"
            + "1F0gCIAFfESA0VswqbtFwIierkfskaP1-8M_N4LCoQA",
    ]

    @Test(arguments: jpegXL)
    func `JPEG XL with PQ is not clipped`(text: String) throws {
        let file = try #require(Base64URL.decode(text))
        #expect(try inspect(file).colors.hdrFormat == .pq && inspect(file).colors.space == .rec2020)
        let image = try Self.pixels(file)
        let colors: [Light] = [[0.18, 0.18, 0.18], [1, 1, 1], [4, 4, 4], [1, 0.2, 0.1]]
        for (index, color) in colors.enumerated() {
            let expected = Self.pixel(color, peak: 1_000 / 203)
            #expect(image.isClose(x: 8 * index + 4, y: 4, to: expected, tolerance: text == Self.jpegXL[0] ? 8 : 1))
        }
    }

    @Test(arguments: [UInt8(16), 18], ImageDecoder.Lane.allCases)
    func `AVIF with PQ and HLG is mapped like PNG`(transfer: UInt8, lane: ImageDecoder.Lane) throws {
        var item = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        item.properties.removeAll { $0[4..<8].elementsEqual("colr".utf8) }
        let plain = HEIFWriter([item], primary: 1).file
        let stored = try ImageDecoder.decode(
            SharedBytes(plain), header: inspect(plain), plan: DecodePlan(), limits: .none, token: WorkToken(),
            lane: .vips)
        item.properties.append(HEIFBox.meaning(isFullRange: true, primaries: 9, transfer: transfer))
        let file = HEIFWriter([item], primary: 1).file
        let image = try ImageDecoder.decode(
            SharedBytes(file), header: inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken(), lane: lane)
        var writer = PNGWriter(width: stored.size.width, height: stored.size.height, colorType: .rgb)
        writer.chunks = [("cICP", [9, transfer, 0, 1])]
        let expected = try Self.pixels(writer.file { x, y in stored.pixel(x: x, y: y).map(Int.init) })
        #expect(!image.isPlanar && image.bands == 3)
        for (x, y) in [(8, 8), (56, 8), (8, 40), (56, 40)] {
            let pixel = expected.pixel(x: x, y: y).map(Int.init)
            #expect(image.isClose(x: x, y: y, to: pixel, tolerance: 4), "\(x), \(y)")
        }
    }

    @Test(arguments: ImageDecoder.Lane.allCases)
    func `AVIF with code points of Display P3 is converted on both lanes`(lane: ImageDecoder.Lane) throws {
        var item = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        item.properties.removeAll { $0[4..<8].elementsEqual("colr".utf8) }
        item.properties.append(HEIFBox.meaning(isFullRange: true, primaries: 12))
        let coded = HEIFWriter([item], primary: 1).file
        item.properties.removeLast()
        item.properties += [
            HEIFBox.meaning(isFullRange: true),
            HEIFBox.profile(ICCWriter.profile(primaries: Chromaticities.displayP3.connectionPrimaries)),
        ]
        let profiled = HEIFWriter([item], primary: 1).file
        func pixels(_ file: [UInt8]) throws -> DecodedImage {
            try ImageDecoder.decode(
                SharedBytes(file), header: inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken(),
                lane: lane
            ).interleavedInSRGB(token: WorkToken())
        }
        let (image, expected) = try (pixels(coded), pixels(profiled))
        for x in stride(from: 0, to: 64, by: 7) {
            #expect(image.isClose(x: x, y: 20, to: expected.pixel(x: x, y: 20).map(Int.init), tolerance: 1))
        }
    }

    @Test(arguments: ImageDecoder.Lane.allCases)
    func `a JPEG whose profile has code points of PQ is mapped, not converted`(lane: ImageDecoder.Lane) throws {
        var profile = ICCWriter.profile(primaries: Chromaticities.rec2020.connectionPrimaries, curve: .gamma(512))
        let entry = try #require(
            (0..<9).map { 132 + 12 * $0 }.first { profile[$0..<$0 + 4].elementsEqual("cprt".utf8) })
        let place = Int(profile[entry + 6]) << 8 | Int(profile[entry + 7])
        profile.replaceSubrange(entry..<entry + 4, with: Array("cicp".utf8))
        profile.replaceSubrange(place..<place + 12, with: Array("cicp\0\0\0\0".utf8) + [9, 16, 0, 1])
        let plain = ImageFixture.file(.quarters(ImageFixture.size), as: .jpeg, quality: 95)
        let file = JPEGWriter.profiled(plain, profile)
        #expect(try inspect(file).colors.hdrFormat == .pq)
        let image = try ImageDecoder.decode(
            SharedBytes(file), header: inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken(), lane: lane)
        #expect(!image.isPlanar)
        // Full white is 10,000 cd/m², above the peak.
        #expect(image.isClose(x: 60, y: 44, to: [255, 255, 255]))
        #expect(image.isClose(x: 4, y: 4, to: Self.pixel([10_000 / 203, 0, 0], peak: 1_000 / 203)))
    }

    @Test func `code points of BT_2020 without light above white are converted`() throws {
        // Gray, and a green within sRGB: light times the inverse matrix.
        let image = try Self.pixels(Self.file([[0.5, 0.5, 0.5], [0.5, 0.6, 0.4]], transfer: 13))
            .interleavedInSRGB(token: WorkToken())
        #expect(image.isClose(x: 0, y: 0, to: [128, 128, 128], tolerance: 1))
        let light = [0.5, 0.6, 0.4].map { SRGBCurve.light(of: $0) }
        let matrix = [[1.6605, -0.5876, -0.0728], [-0.1246, 1.1329, -0.0083], [-0.0182, -0.1006, 1.1187]]
        let expected = matrix.map { SRGBCurve.component(of: zip($0, light).reduce(0) { $0 + $1.0 * $1.1 }) }
        #expect(image.isClose(x: 1, y: 0, to: expected, tolerance: 2))
    }
}
