import Coordination
import Glibc
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// libvips' lane resamples in linear light as in a floating-point implementation of the definition.
@Suite(.timeLimit(.minutes(1)))
struct LightDefinitionTests {
    private static let source = PixelSize(width: 61, height: 47)

    @Test(arguments: 1...4, [(20, 15), (60, 47), (61, 20), (7, 46)])
    func `pixels are weighted by Lanczos and alpha`(bands: Int, size: (Int, Int)) throws {
        let image = Self.noise(Self.source, bands: bands)
        let target = PixelSize(width: size.0, height: size.1)
        let result = try Self.rendered(image, [ResampleStep(to: target, in: .linear)], to: target)
        for y in stride(from: 0, to: target.height, by: 3) {
            for x in stride(from: 0, to: target.width, by: 2) {
                let expected = Self.defined(image, target, x, y)
                let alpha = bands.isMultiple(of: 2) ? expected[bands - 1] / 255 : 1
                for (band, sample) in result.pixel(x: x, y: y).enumerated() {
                    let distance = abs(Double(sample) - expected[band])
                    #expect(distance * (band == bands - 1 ? 1 : alpha) < 1, "\(x),\(y) band \(band)")
                }
            }
        }
    }

    @Test func `a crop after the resample has the pixels of the whole`() throws {
        let image = Self.noise(PixelSize(width: 320, height: 240), bands: 4)
        let size = PixelSize(width: 100, height: 75)
        let part = PixelSize(width: 31, height: 40)
        let resample = ResampleStep(to: size, in: .linear)
        let whole = try Self.rendered(image, [resample], to: size)
        let cropped = try Self.rendered(image, [resample, CropStep(x: 60, y: 20, size: part)], to: part)
        for y in 0..<part.height {
            for x in 0..<part.width { #expect(cropped.pixel(x: x, y: y) == whole.pixel(x: x + 60, y: y + 20)) }
        }
    }

    @Test func `an image that shrinks very much is the mean of its light`() throws {
        let image = SampleImage(PixelSize(width: 64, height: 3_000), bands: 3) { _, y in
            y.isMultiple(of: 2) ? [0, 0, 0] : [255, 255, 255]
        }
        let size = PixelSize(width: 32, height: 20)
        let result = try Self.rendered(image, [ResampleStep(to: size, in: .linear)], to: size)
        for y in 0..<size.height { #expect(result.isClose(x: 16, y: y, to: [188, 188, 188], tolerance: 2)) }
    }

    @Test func `smaller images of light cost less than weighted components, larger ones more`() {
        func cost(_ light: ResamplingLight, side: Int) -> Double {
            let input = FrameShape(size: PixelSize(width: 400, height: 400), hasAlpha: true)
            let step = ResampleStep(to: PixelSize(width: side, height: side), in: light)
            return RenderSteps([step]).costs(on: input)[0].perFrame
        }
        #expect(cost(.linear, side: 100) < cost(.gamma, side: 100))
        #expect(cost(.linear, side: 800) > cost(.gamma, side: 800))
    }

    /// Noise of which a part is transparent.
    private static func noise(_ size: PixelSize, bands: Int) -> SampleImage {
        var state: UInt32 = 7
        func next() -> UInt8 {
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
        return SampleImage(size, bands: bands) { x, y in
            var pixel = (0..<bands).map { _ in next() }
            if bands.isMultiple(of: 2) { pixel[bands - 1] = x < 20 ? 255 : y < 20 ? 0 : pixel[bands - 1] }
            return pixel
        }
    }

    private static func rendered(_ image: SampleImage, _ steps: RenderSteps, to size: PixelSize) throws -> DecodedImage
    {
        try ImageLibrary.start()
        let source = DecodedImage(image)
        let plan = RenderPlan(
            source: FrameShape(size: image.size, hasAlpha: image.bands.isMultiple(of: 2)), steps: steps, format: .png,
            quality: 100)
        return try ImageReading.decode(ImageRenderer.render(source, plan: plan, token: WorkToken()).bytes)
    }

    private static func light(_ sample: UInt8) -> Double {
        let value = Double(sample) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func sample(_ light: Double) -> Double {
        let light = min(max(light, 0), 1)
        return 255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
    }

    /// The taps of a target sample within the source, and their weights.
    private static func taps(_ source: Int, _ target: Int, _ index: Int) -> [(place: Int, weight: Double)] {
        let stretch = Double(source) / Double(target)
        let center = (Double(index) + 0.5) * stretch - 0.5
        let taps = (Int(center - 3 * stretch) - 1...Int(center + 3 * stretch) + 1).map { tap in
            let x = (Double(tap) - center) / stretch
            let weight =
                abs(x) < 1e-9 ? 1 : abs(x) >= 3 ? 0 : 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
            return (place: min(max(tap, 0), source - 1), weight: weight)
        }
        let whole = taps.reduce(0) { $0 + $1.weight }
        return taps.map { ($0.place, $0.weight / whole) }
    }

    private static func defined(_ image: SampleImage, _ target: PixelSize, _ x: Int, _ y: Int) -> [Double] {
        let bands = image.bands
        let colors = bands.isMultiple(of: 2) ? bands - 1 : bands
        var sums = [Double](repeating: 0, count: bands)
        let across = taps(image.size.width, target.width, x)
        for row in taps(image.size.height, target.height, y) {
            for column in across {
                let start = (row.place * image.size.width + column.place) * bands
                let alpha = colors < bands ? Double(image.pixels[start + colors]) / 255 : 1
                let weight = row.weight * column.weight
                for band in 0..<colors { sums[band] += weight * alpha * light(image.pixels[start + band]) }
                if colors < bands { sums[colors] += weight * alpha }
            }
        }
        let alpha = colors < bands ? min(max(sums[colors], 0), 1) : 1
        return (0..<colors).map { alpha > 0 ? sample(sums[$0] / (colors < bands ? sums[colors] : 1)) : 0 }
            + (colors < bands ? [255 * alpha] : [])
    }
}
