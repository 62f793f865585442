import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Drawings whose border is trimmed.
@Suite(.timeLimit(.minutes(1)))
struct TrimmedDrawingTests {
    /// Two colors of 50×60 in a border: 10 CSS pixels on the left, 20 at the top, 30 on the right, 40 at the bottom.
    private static let file = Array(
        """
        <svg xmlns='http://www.w3.org/2000/svg' width='140' height='120'>
        <path d='M10 20h50v60h-50z' fill='#c82814'/><path d='M60 20h50v60h-50z' fill='#0a3cdc'/></svg>
        """.utf8)

    private func trimmed(
        _ options: RenderingOptions, watermark: WatermarkOptions? = nil, maximum: Int = 25_000_000, ratio: Int = 1_000
    ) throws -> (drawing: DecodePlan?, image: DecodedImage) {
        try ImageLibrary.start()
        let (codec, bytes, token) = (InProcessCodec(), SharedBytes(Self.file), WorkToken())
        let header = try ImageHeader.inspect(bytes)
        var (options, limits) = (options, ImagingLimits())
        limits.sourceFormats.insert(.svg)
        limits.maximumOutputPixels = maximum
        options.operations.trim = ImageOperations.Trim(tolerance: 10)
        if watermark != nil { (options.watermark, options.devicePixelRatio) = (watermark, ratio) }
        let mark = SharedBytes(UnwrittenImages.svg("width='64' height='48'"))
        let plan = try RenderPlan(
            options: options, format: .png, source: header, limits: limits,
            additions: watermark == nil ? [] : [.inspect(mark)])
        #expect(plan.decode.drawnSize == PixelSize(width: 140, height: 120))
        var additions: [DecodedImage] = []
        if watermark != nil {
            additions = [
                try codec.decode(
                    mark, header: .inspect(mark), plan: plan.additions[0], limits: limits, token: token)
            ]
        }
        let border = try #require(plan.drawnBorder)
        var drawing: DecodePlan?
        let image = try codec.draw(
            bytes, inside: border, header: header, plan: plan.decode, limits: limits, token: token
        ) { drawing = $0 }
        let result = try ImageRenderer.render(image, additions: additions, plan: plan, token: token)
        return (drawing, try ImageReading.decode(result.bytes, bands: 4))
    }

    private func isSharp(_ image: DecodedImage) -> Bool {
        let middle = image.size.width / 2
        return (0..<image.size.width).allSatisfy { x in
            x == middle || x == middle - 1
                || image.pixel(x: x, y: image.size.height / 2)
                    == (x < middle ? [200, 40, 20, 255] : [10, 60, 220, 255])
        }
    }

    @Test(
        arguments: [
            (options(nil, nil), 100, 60), (options(300, nil), 300, 180), (options(50, nil), 50, 30),
            (options(nil, 600), 1_000, 600), (options(200, 200, .fill), 200, 200),
            (options(nil, nil) { $0.devicePixelRatio = 3_000 }, 300, 180),
        ] as [(RenderingOptions, Int, Int)])
    func `a trimmed drawing is drawn at the required size`(options: RenderingOptions, width: Int, height: Int) throws {
        let (_, image) = try trimmed(options)
        #expect(image.size == PixelSize(width: width, height: height))
        #expect(isSharp(image))
    }

    @Test func `crops and rotations follow`() throws {
        let (_, right) = try trimmed(
            options(400, nil) { $0.operations.crop = .pixels(x: 50, y: 0, width: 50, height: 60) })
        #expect(right.size == PixelSize(width: 400, height: 480) && right.meanColor == [10, 60, 220, 255])
        let (_, turned) = try trimmed(options(600, nil) { $0.operations.rotation = 90 })
        #expect(turned.size == PixelSize(width: 600, height: 1_000))
        #expect(turned.pixel(x: 300, y: 498) == [200, 40, 20, 255])
        #expect(turned.pixel(x: 300, y: 502) == [10, 60, 220, 255])
        let (_, covered) = try trimmed(options(100, 100, .cover) { $0.gravity = .left })
        #expect(covered.size == PixelSize(width: 100, height: 100))
        #expect(
            covered.pixel(x: 82, y: 50) == [200, 40, 20, 255] && covered.pixel(x: 84, y: 50) == [10, 60, 220, 255])
    }

    @Test func `if the whole would be too large, only the trimmed part is drawn`() throws {
        let (drawing, image) = try trimmed(options(300, nil), maximum: 90_000)
        #expect(drawing?.drawnRegion != nil && drawing?.drawnSize == PixelSize(width: 300, height: 180))
        #expect(isSharp(image))
        #expect(throws: ImagingError.self) { try trimmed(options(300, nil), maximum: 50_000) }
    }

    @Test func `a watermark is drawn over the trimmed part`() throws {
        var watermark = WatermarkOptions()
        (watermark.scale, watermark.position) = (5_000, .topLeft)
        let (_, image) = try trimmed(options(640, nil), watermark: watermark)
        #expect(image.size == PixelSize(width: 640, height: 384))
        #expect(image.pixel(x: 10, y: 10) == [255, 0, 0, 255] && image.pixel(x: 310, y: 10) == [0, 255, 0, 255])
        #expect(image.pixel(x: 330, y: 10) == [10, 60, 220, 255])
    }

    @Test func `its results have their own keys`() throws {
        var (wanted, limits) = (options(300, nil), ImagingLimits())
        wanted.operations.trim = ImageOperations.Trim(tolerance: 10)
        limits.sourceFormats.insert(.svg)
        let plan = try RenderPlan(options: wanted, format: .png, source: inspect(Self.file), limits: limits)
        #expect(plan.keyTexts.first == "page 0 level 1 refuse drawn 140x120")
        #expect(plan.keyTexts.last == "trim 10 corner box 300xany 1000 inside false center none all drawn anew")
    }
}
