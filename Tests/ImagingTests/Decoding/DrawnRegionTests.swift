import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Drawings of which only a part is rendered, because the whole would be too large.
@Suite(.timeLimit(.minutes(1)))
struct DrawnRegionTests {
    /// Units, groups with opacity, masks, nested view boxes, clips and text: all that depends on the root element.
    private static let file = Array(
        """
        <!-- a --><!DOCTYPE svg [<!ENTITY n 'url(#g)'>]>
        <svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 48' width='640'>
          <defs><linearGradient id='g'><stop stop-color='red'/><stop offset='1' stop-color='blue'/></linearGradient>
          <mask id='m'><rect width='100%' height='100%' fill='white'/><circle cx='32' cy='24' r='9'/></mask></defs>
          <rect width='100%' height='100%' fill='&n;'/>
          <g opacity='.5'><circle cx='32' cy='24' r='15' fill='lime'/><rect x='50%' width='25%' height='50%'/></g>
          <g mask='url(#m)'><rect x='10' y='10' width='40' height='30' fill='yellow' opacity='.7'/></g>
          <svg x='40' y='30' width='20' height='12' viewBox='0 0 10 10'><rect width='99' height='5' fill='white'/></svg>
          <text x='5' y='44' font-size='10'>Ag</text>
        </svg>
        """.utf8)

    private func limits(_ pixels: Int) -> ImagingLimits {
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.svg)
        limits.maximumOutputPixels = pixels
        return limits
    }

    /// The plan and the result with this maximum number of pixels for drawings.
    private func result(
        _ file: [UInt8], _ options: RenderingOptions, maximum: Int
    ) throws -> (plan: RenderPlan, image: DecodedImage) {
        try ImageLibrary.start()
        let bytes = SharedBytes(file)
        let header = try ImageHeader.inspect(bytes)
        let plan = try RenderPlan(options: options, format: .png, source: header, limits: limits(maximum))
        let image = try ImageDecoder.decode(
            bytes, header: header, plan: plan.decode, limits: limits(maximum), token: WorkToken())
        let result = try ImageRenderer.render(image, plan: plan, token: WorkToken())
        return (plan, try ImageReading.decode(result.bytes))
    }

    private static let changes: [@Sendable (inout RenderingOptions) -> Void] = [
        { $0.operations.crop = .pixels(x: 160, y: 120, width: 320, height: 240) },
        { $0.operations.crop = .fractions(x: 2_500, y: 5_000, width: 5_000, height: 5_000) },
        { $0.operations.crop = .pixels(x: 0, y: 240, width: 640, height: 240) },
        { ($0.height, $0.fit) = (60, .cover) },
        { ($0.height, $0.fit, $0.gravity) = (60, .cover, .focal(x: 900, y: 200)) },
        {
            ($0.height, $0.fit, $0.gravity) = (60, .cover, .bottomRight)
            $0.operations.crop = .pixels(x: 320, y: 0, width: 320, height: 480)
            ($0.operations.flip, $0.operations.rotation) = (.horizontal, 90)
        },
        {
            ($0.height, $0.fit, $0.gravity) = (60, .cover, .attention)
            $0.operations.crop = .pixels(x: 160, y: 120, width: 320, height: 240)
        },
    ]

    @Test(arguments: changes.indices)
    func `a part drawn alone equals a crop`(index: Int) throws {
        let wanted = options(240, nil, change: Self.changes[index])
        let (whole, alone) = (
            try result(Self.file, wanted, maximum: 1_000_000),
            try result(Self.file, wanted, maximum: 2...4 ~= index ? 43_000 : 45_000)
        )
        #expect(whole.plan.decode.drawnRegion == nil && alone.plan.decode.drawnRegion != nil)
        #expect(alone.image.size == whole.image.size)
        let (one, other) = (whole.image.pixels.array, alone.image.pixels.array)
        // The whole image is drawn on whole pixels, so the edges of a part may be off by a fraction of a pixel.
        let differences = zip(one, other).map { abs(Int($0) - Int($1)) }
        #expect(differences.reduce(0, +) < differences.count, "\(differences.reduce(0, +)) of \(differences.count)")
    }

    @Test func `edges of a part are sharp at any enlargement`() throws {
        let file = UnwrittenImages.svg("width='64' height='48'")
        for side in [2, 8] {
            let (plan, image) = try result(
                file,
                options(640, nil) {
                    $0.operations.crop = .pixels(x: 32 - side / 2, y: 24 - side / 2, width: side, height: side)
                }, maximum: 500_000)
            #expect(plan.decode.drawnSize == PixelSize(width: 640, height: 640) && image.size == plan.decode.drawnSize)
            for x in 0..<640 where x != 320 {
                #expect(image.pixel(x: x, y: 0).prefix(3) == (x < 320 ? [255, 0, 0] : [0, 255, 0]), "\(x)")
            }
        }
    }

    @Test func `the part and its position are in the key`() throws {
        let plan = try result(
            UnwrittenImages.svg("width='64' height='48'"),
            options(100, 10, .cover) { $0.operations.crop = .pixels(x: 32, y: 0, width: 32, height: 48) },
            maximum: 9_000
        ).plan
        #expect(
            plan.keyTexts == [
                "page 0 level 1 refuse drawn 100x10 at 0,70 of 32,0 32x48 in 64x48 as 100x150",
                "resample 100x10 gamma.2",
                "png.4 100",
            ])
    }

    @Test func `the part alone has a cost, and no side overflows`() throws {
        let source = try inspect(UnwrittenImages.svg("width='1e7' height='1e7'"))
        let part = try RenderPlan(
            options: options(300, nil) { $0.operations.crop = .pixels(x: 5, y: 5, width: 9_000, height: 9_000) },
            format: .png, source: source, limits: limits(25_000_000))
        #expect(part.decode.drawnSize == PixelSize(width: 300, height: 300))
        #expect(source.cost(of: part.decode) == source.cost(of: DecodePlan(drawnSize: part.decode.drawnSize)))
        for (width, height) in [(1, 10_000_000), (10_000_000, 1), (1, 1)] {
            let wanted = options(16_384, 16_384, .cover) {
                $0.devicePixelRatio = 8_000
                $0.operations.crop = .pixels(x: 0, y: 0, width: width, height: height)
            }
            #expect(throws: ImagingError.self) {
                try RenderPlan(options: wanted, format: .png, source: source, limits: limits(25_000_000))
            }
        }
        let wide = options(300, nil) { $0.operations.crop = .pixels(x: 0, y: 0, width: 9, height: 9) }
        let error = #expect(throws: ImagingError.self) {
            try RenderPlan(options: wide, format: .png, source: source, limits: limits(25_000_000))
        }
        guard case .tooManyPixels? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
