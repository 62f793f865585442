import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Pixels mixed as stored, and in linear light.
@Suite(.timeLimit(.minutes(1)))
struct ResamplingLightTests {
    /// Half black and half white is 128 of 255 as stored, and 188 in linear light.
    private static let mixtures: [(ResamplingLight, Int)] = [(.gamma, 128), (.linear, 188)]
    private static let stripes = SampleImage(PixelSize(width: 320, height: 320), bands: 3) { x, _ in
        x.isMultiple(of: 2) ? [0, 0, 0] : [255, 255, 255]
    }

    @Test(arguments: mixtures, [ImageFormat.png, .jpeg, .webp])
    func `black and white mix to the gray of their numbers or of their light`(
        mixture: (ResamplingLight, Int), source: ImageFormat
    ) throws {
        let file = SharedBytes(ImageFixture.file(Self.stripes, as: source, quality: 100))
        for format in [ImageFormat.png, .jpeg, .webp] {
            for lane in ImageDecoder.Lane.allCases {
                let result = try render(file, mixture.0, format, lane: lane)
                #expect(result.isClose(x: 16, y: 16, to: [mixture.1, mixture.1, mixture.1], tolerance: 4), "\(format)")
            }
        }
    }

    @Test(arguments: mixtures)
    func `gray stays gray and mixes alike`(mixture: (ResamplingLight, Int)) throws {
        let picture = SampleImage(Self.stripes.size, bands: 1) { x, _ in x.isMultiple(of: 2) ? [0] : [255] }
        for source in [ImageFormat.png, .jpeg] {
            let file = SharedBytes(ImageFixture.file(picture, as: source, quality: 100))
            for lane in ImageDecoder.Lane.allCases {
                let result = try render(file, mixture.0, .png, lane: lane)
                #expect(Set(result.pixel(x: 16, y: 16)).count == 1)
                #expect(result.isClose(x: 16, y: 16, to: [mixture.1, mixture.1, mixture.1], tolerance: 4))
            }
        }
    }

    @Test(arguments: mixtures)
    func `transparent pixels add no color, and alpha is averaged as stored`(mixture: (ResamplingLight, Int)) throws {
        let picture = SampleImage(Self.stripes.size, bands: 4) { x, y in
            y < 160
                ? (x.isMultiple(of: 2) ? [0, 0, 0, 255] : [255, 255, 255, 255])
                : (x.isMultiple(of: 2) ? [200, 100, 50, 255] : [0, 255, 0, 0])
        }
        let result = try render(SharedBytes(ImageFixture.file(picture, as: .png)), mixture.0, .png, lane: .planar)
        #expect(result.isClose(x: 16, y: 8, to: [mixture.1, mixture.1, mixture.1, 255], tolerance: 3))
        #expect(result.isClose(x: 16, y: 24, to: [200, 100, 50, 128], tolerance: 3))
    }

    @Test(arguments: ResamplingLight.allCases, [0, 1, 7, 60, 128, 200, 254, 255])
    func `a plain color is unchanged`(light: ResamplingLight, value: Int) throws {
        let picture = SampleImage.plain(Self.stripes.size, [UInt8(value)])
        for source in [ImageFormat.png, .jpeg] {
            let file = SharedBytes(ImageFixture.file(picture, as: source, quality: 100))
            let result = try render(file, light, .png, lane: .planar)
            #expect(result.isClose(x: 9, y: 9, to: [value, value, value], tolerance: 0))
        }
    }

    @Test func `the light is part of the plan`() throws {
        let header = try ImageHeader.inspect(SharedBytes(ImageFixture.file(Self.stripes, as: .png)))
        let plans = try ResamplingLight.allCases.map { light in
            try RenderPlan(
                options: RenderingOptions(), format: .png, source: header, limits: ImagingLimits(), light: light)
        }
        #expect(plans[0] != plans[1])
    }

    private func render(
        _ file: SharedBytes, _ light: ResamplingLight, _ format: ImageFormat, lane: ImageDecoder.Lane
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let header = try ImageHeader.inspect(file)
        // From the full-size image, because a reduced decode averages stored components.
        let plan = RenderPlan(
            resizedSize: PixelSize(width: 32, height: 32), light: light, format: format,
            quality: 100)
        let image = try ImageDecoder.decode(
            file, header: header, plan: plan.decode, limits: ImagingLimits(), token: WorkToken(), lane: lane)
        let result = try ImageRenderer.render(image, plan: plan, token: WorkToken())
        return try ImageReading.decode(result.bytes, bands: 3)
    }
}
