import Coordination
import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Images with a dark line of one pixel along one edge, as from cameras and scanners.
@Suite(.timeLimit(.minutes(1)))
struct ResamplingEdgeTests {
    enum Edge: CaseIterable {
        case left, top, right, bottom

        func contains(x: Int, y: Int, of size: PixelSize) -> Bool {
            switch self {
            case .left: x == 0
            case .top: y == 0
            case .right: x == size.width - 1
            case .bottom: y == size.height - 1
            }
        }
    }

    private static let (light, dark) = (UInt8(200), UInt8(20))
    private static let source = PixelSize(width: 240, height: 180)
    private static let target = PixelSize(width: 160, height: 120)

    @Test(arguments: Edge.allCases, [ResamplingLight.gamma, .linear])
    func `an image continues beyond its edges with its outermost pixels`(
        edge: Edge, light: ResamplingLight
    ) throws {
        let image = try rendered(edge, light)
        let isAcross = edge == .left || edge == .right
        let length = isAcross ? Self.source.width : Self.source.height
        let count = isAcross ? Self.target.width : Self.target.height
        let line = (0..<length).map { index in
            isAcross
                ? edge.contains(x: index, y: 90, of: Self.source) : edge.contains(x: 120, y: index, of: Self.source)
        }
        let repeated = Self.resampled(line, to: count, light) { min(max($0, 0), length - 1) }
        let mirrored = Self.resampled(line, to: count, light) { $0 < 0 ? -1 - $0 : min($0, 2 * length - 1 - $0) }
        // The test distinguishes repeated from mirrored edges.
        #expect(zip(repeated, mirrored).map { abs($0 - $1) }.max() ?? 0 > 10)
        for index in 0..<count {
            let sample = isAcross ? image.pixel(x: index, y: 60) : image.pixel(x: 80, y: index)
            #expect(abs(Double(sample[0]) - repeated[index]) <= 4, "\(index)")
        }
    }

    @Test func `an image at its own size keeps every sample`() throws {
        let image = SampleImage.photo(PixelSize(width: 64, height: 48))
        let file = SharedBytes(ImageFixture.file(image, as: .jpeg, quality: 100))
        let whole = try decoded(file)
        let plan = RenderPlan(resizedSize: image.size, format: .png, quality: 100)
        let same = try decoded(ImageRenderer.render(whole, plan: plan, token: WorkToken()).bytes)
        let other = try decoded(file, lane: .vips)
        for y in 0..<48 {
            for x in 0..<64 {
                for (sample, expected) in zip(same.pixel(x: x, y: y), other.pixel(x: x, y: y)) {
                    #expect(abs(Int(sample) - Int(expected)) <= 3)
                }
            }
        }
    }

    private func rendered(_ edge: Edge, _ light: ResamplingLight) throws -> DecodedImage {
        let image = SampleImage(Self.source, bands: 1) { x, y in
            [edge.contains(x: x, y: y, of: Self.source) ? Self.dark : Self.light]
        }
        let file = SharedBytes(ImageFixture.file(image, as: .jpeg, quality: 100))
        var options = RenderingOptions()
        options.width = Self.target.width
        let header = try ImageHeader.inspect(file)
        let plan = try RenderPlan(
            options: options, format: .png, source: header, limits: ImagingLimits(), light: light)
        #expect(plan.decode.level == 1)
        let planes = try decoded(file)
        #expect(planes.isPlanar)
        return try decoded(ImageRenderer.render(planes, plan: plan, token: WorkToken()).bytes)
    }

    private func decoded(_ file: SharedBytes, lane: ImageDecoder.Lane = .planar) throws -> DecodedImage {
        try ImageLibrary.start()
        return try ImageDecoder.decode(
            file, header: ImageHeader.inspect(file), plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken(),
            lane: lane)
    }

    /// Lanczos 3 of a row by its definition; `place` maps positions outside the row to a sample.
    private static func resampled(
        _ line: [Bool], to count: Int, _ light: ResamplingLight, place: (Int) -> Int
    ) -> [Double] {
        func linear(_ sample: UInt8) -> Double {
            let value = Double(sample) / 255
            return light == .gamma ? value : value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        func sample(_ value: Double) -> Double {
            let value = min(max(value, 0), 1)
            if light == .gamma { return 255 * value }
            return 255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055)
        }
        func weight(_ x: Double) -> Double {
            x == 0 ? 1 : abs(x) >= 3 ? 0 : 3 * sin(.pi * x) * sin(.pi * x / 3) / (.pi * .pi * x * x)
        }
        let stretch = Double(line.count) / Double(count)
        return (0..<count).map { index in
            let center = (Double(index) + 0.5) * stretch - 0.5
            var (sum, weights) = (0.0, 0.0)
            for tap in Int(center - 3 * stretch) - 1...Int(center + 3 * stretch) + 1 {
                let factor = weight((Double(tap) - center) / stretch)
                sum += factor * linear(line[place(tap)] ? dark : Self.light)
                weights += factor
            }
            return sample(sum / weights)
        }
    }
}
