import CPlanar
import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Operations that work on planes, and their results for samples of both ranges.
@Suite(.timeLimit(.minutes(1)))
struct PlanarFilterTests {
    /// The steps that need interleaved pixels.
    private func rest(
        _ format: ImageFormat, _ options: RenderingOptions = RenderingOptions(),
        _ change: (inout ImageOperations) -> Void
    ) throws -> RenderPlan {
        var options = options
        options.width = 100
        change(&options.operations)
        let source = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 320, height: 240))
        let plan = try RenderPlan(options: options, format: format, source: source, limits: ImagingLimits())
        let image = try ImageDecoder.decode(
            ImageFixture.photo(width: 320, height: 240), header: source, plan: plan.decode, limits: ImagingLimits(),
            token: WorkToken())
        return PlanarLane.split(plan, for: image).rest
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .avif])
    func `planes of either range support most operations`(format: ImageFormat) throws {
        var options = RenderingOptions()
        options.background = .white
        for change in [
            { $0[.hue] = 90 }, { $0[.blur] = 200 }, { $0[.sharpen] = 80 }, { $0.radius = .pixels(9) },
            { $0.mask = .star }, { $0.pad = .init(top: 2, right: 3, bottom: 3, left: 2) },
        ] as [(inout ImageOperations) -> Void] {
            #expect(try rest(format, options, change).steps.isEmpty)
        }
        for change in [
            { $0[.pixelate] = 4 }, { $0.rotation = 10 }, { $0.pad = .init(top: 2, right: 2, bottom: 2, left: 3) },
        ] as [(inout ImageOperations) -> Void] {
            #expect(try !rest(format, options, change).steps.isEmpty)
        }
    }

    @Test func `transparent images are planes only in WebP, at a fixed quality`() throws {
        let change = { (operations: inout ImageOperations) in
            operations.pad = .init(top: 2, right: 2, bottom: 2, left: 2)
            operations.mask = .circle
        }
        #expect(try rest(.webp, RenderingOptions(), change).steps.isEmpty)
        #expect(try !rest(.avif, RenderingOptions(), change).steps.isEmpty)
        var options = RenderingOptions()
        options.maximumBytes = 2_000
        #expect(try !rest(.webp, options, change).steps.isEmpty)
        options.maximumBytes = nil
        options.background = Color(red: 1, green: 2, blue: 3, alpha: 128)
        #expect(try !rest(.webp, options, change).steps.isEmpty)
    }

    @Test(arguments: [PlaneRange.full, .limited], [1, 2])
    func `colors of planes match their pixels'`(range: PlaneRange, step: Int) throws {
        for color in [Color(red: 200, green: 40, blue: 90), .white, Color(red: 0, green: 0, blue: 0)] {
            var filters = OperationNumbers()
            (filters[.inversion], filters[.saturation]) = (100, 50)
            let size = PixelSize(width: 37, height: 21)
            let planes = [Plane].stacked([size, size.reduced(by: step), size.reduced(by: step)])
            let memory = try PlaneMemory(count: planes.byteCount)
            for (plane, value) in zip(planes, range.samples(of: color)) { memory.fill(plane, with: value) }
            try PlanarFilter.colors(ColorChange(filters)).apply(
                to: unsafe CPlanarPlanes(planes, in: UnsafeRawBufferPointer(memory.bytes)), in: range,
                chromaStep: step, token: WorkToken())
            let gray = 0.213 * Double(color.red) + 0.715 * Double(color.green) + 0.072 * Double(color.blue)
            let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
            let mixed = [red, green, blue].map { UInt8((255 - ($0 + gray) / 2).rounded()) }
            let expected = range.samples(of: Color(red: mixed[0], green: mixed[1], blue: mixed[2]))
            for (plane, value) in zip(planes, expected) {
                for y in 0..<plane.size.height {
                    for x in 0..<plane.size.width {
                        let sample = unsafe memory.bytes[plane.offset + y * plane.stride + x]
                        #expect(abs(Int(sample) - Int(value)) <= 1, "\(x),\(y): \(sample) for \(value)")
                    }
                }
            }
        }
    }

    @Test func `the samples of limited range match BT 601`() {
        #expect(PlaneRange.limited.samples(of: .white) == [235, 128, 128])
        #expect(PlaneRange.limited.samples(of: Color(red: 0, green: 0, blue: 0)) == [16, 128, 128])
        #expect(PlaneRange.limited.samples(of: Color(red: 255, green: 0, blue: 0)) == [81, 90, 240])
        #expect(PlaneRange.full.samples(of: Color(red: 255, green: 0, blue: 0)) == [76, 85, 255])
    }
}
