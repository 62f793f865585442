import Recipes
import TestSupport
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Sizes, positions and the order of steps.
@Suite struct ImaginaryLayoutTests {
    @Test(
        arguments: [
            ("/resize?width=300", 1_200, 800, 300, 200), ("/resize?width=800", 400, 300, 400, 300),
            ("/resize?width=600&height=200", 400, 300, 600, 200), ("/resize?height=450&force=true", 400, 300, 600, 450),
            ("/resize?width=300&height=300", 600, 900, 300, 300), ("/resize?height=99", 641, 427, 149, 99),
            ("/resize?width=200&height=100&nocrop=false", 600, 900, 200, 100),
            ("/crop?width=300", 1_200, 800, 300, 800), ("/crop?width=800", 400, 300, 400, 300),
            ("/crop?width=800&height=200", 400, 300, 800, 200), ("/crop?width=97&height=331", 641, 427, 97, 331),
            ("/crop?width=300&aspectratio=16:9", 1_200, 800, 300, 162),
            ("/crop?width=15&aspectratio=16:9", 1_200, 800, 15, 800), ("/smartcrop?width=200", 600, 400, 200, 400),
            ("/enlarge?width=800&height=600", 400, 300, 800, 600),
            ("/enlarge?width=600&height=600&nocrop=true", 400, 300, 600, 450),
            ("/extract?top=50&left=50&areawidth=100&areaheight=50&width=200", 400, 300, 100, 50),
            ("/rotate?rotate=100", 400, 300, 300, 400), ("/rotate?rotate=45", 400, 300, 400, 300),
            ("/rotate?rotate=90&width=200&height=200", 1_200, 800, 133, 200),
            ("/thumbnail?width=600", 400, 300, 600, 450),
            ("/thumbnail?width=100&height=100&embed=1", 1_200, 800, 100, 100),
            ("/zoom?factor=-3", 10, 8, 40, 32), ("/zoom?factor=1&width=200", 400, 300, 200, 150),
            ("/zoom?factor=2&areawidth=300&top=80&left=80", 400, 300, 300, 300),
            ("/fit?width=800&height=150", 400, 300, 200, 150), ("/fit?width=1000&height=1", 1_200, 800, 2, 1),
            ("/fit?width=4096&height=4096", 1_200, 800, 1_200, 800), ("/convert?type=png", 7, 5, 7, 5),
        ])
    func `sizes are the service's`(
        target: String, width: Int, height: Int, resultWidth: Int, resultHeight: Int
    ) throws {
        let size = try imaginaryComposition(target, width, height).finalSize
        #expect(size == PixelSize(width: resultWidth, height: resultHeight))
    }

    @Test(arguments: [
        ("/resize?width=100", [String]()),
        ("/resize?width=100&height=100", ["backdrop edges 100x100 0,12"]),
        ("/resize?width=100&height=100&extend=mirror", ["backdrop mirrored 100x100 0,12"]),
        ("/resize?width=100&height=100&extend=%20WHITE%20", ["canvas 100x100 0,12 255,255,255,255"]),
        ("/resize?width=100&height=100&extend=background&background=1,2,300", ["canvas 100x100 0,12 1,2,255,255"]),
        ("/crop?width=100&height=99", ["crop 16,0 100x99"]),
        ("/crop?width=100&height=99&gravity=EAST", ["crop 32,0 100x99"]),
        ("/smartcrop?width=100&height=99", ["attention 100x99"]), ("/zoom?factor=1", ["zoom 2"]),
        ("/blur?sigma=0.5", ["blur 50000"]), ("/flip?colorspace=bw", ["grey"]),
        (
            "/watermarkimage?image=http://h/m.png&left=8&top=9&opacity=0.5",
            ["overlay 0 20x10 0,0 20x10 gamma at 8,9 20x10 50"]
        ),
    ])
    func `each operation has its steps`(target: String, steps: [String]) throws {
        #expect(try imaginaryComposition(target, 400, 300).stepTexts == steps)
    }

    @Test func `rotations come first, and mirrors after them`() throws {
        func turn(_ target: String, _ orientation: QuarterTurn, _ format: ImageFormat = .jpeg) throws -> QuarterTurn {
            try imaginaryComposition(target, 40, 30, format, orientation: orientation).turn
        }
        // The draft's turn applies to the upright image.
        #expect(try turn("/convert?type=png", 6) == 1 && turn("/convert?type=png&norotation=1", 6) == 8)
        #expect(try turn("/flip", 1) == 2 && turn("/flop", 1) == 4 && turn("/flip?flop=true", 1) == 3)
        #expect(try turn("/flip?rotate=90", 1) == 5)
        // A rotation replaces the file's orientation.
        #expect(try turn("/rotate?rotate=180", 6) == 6)
        // `norotation` does not apply to HEIC and AVIF.
        #expect(try turn("/convert?type=png&norotation=1", 6, .heic) == 1)
        #expect(try turn("/convert?type=png&norotation=1", 6, .avif) == 1)
    }

    @Test func `a part beyond the edge is rejected, and skipped in a pipeline that allows it`() throws {
        let parameters = "\"params\":{\"areawidth\":50,\"areaheight\":50,\"left\":380}"
        #expect(throws: ImagingError.cropOutside(PixelSize(width: 400, height: 300))) {
            try imaginaryComposition("/extract?areawidth=50&areaheight=50&left=380", 400, 300)
        }
        let left = pipeline(
            "[{\"operation\":\"extract\",\(parameters),\"ignore_failure\":true},{\"operation\":\"flip\"}]")
        let draft = try imaginaryComposition(left, 400, 300)
        #expect(draft.finalSize == PixelSize(width: 400, height: 300) && draft.turn == 2)
    }

    @Test func `a pipeline is one plan, in the order of its operations`() throws {
        let target = pipeline(
            """
            [{"operation":"extract","params":{"top":10,"left":20,"areawidth":300,"areaheight":200}},\
            {"operation":"flip"},\
            {"operation":"resize","params":{"width":150}},{"operation":"rotate","params":{"rotate":90}},\
            {"operation":"blur","params":{"sigma":"2"}},{"operation":"convert","params":{"type":"webp","quality":90}}]
            """)
        let draft = try imaginaryComposition(target, 400, 300)
        let whole = PixelSize(width: 400, height: 300)
        #expect(draft.region == ImageRegion(x: 20, y: 10, size: PixelSize(width: 300, height: 200), of: whole))
        #expect(draft.turn == 2 && draft.size == PixelSize(width: 150, height: 100))
        #expect(draft.stepTexts == ["turn 6", "blur 200000"])
        #expect(draft.format == .webp && draft.quality == .fixed(90))
    }

    @Test(arguments: ["fit", "crop", "enlarge", "resize", "extract"])
    func `sizes between the operations of a pipeline are bounded`(operation: String) throws {
        let large = "\"width\":\(Int.max / 4),\"height\":\(Int.max / 4)"
        let target = pipeline(
            """
            [{"operation":"resize","params":{"width":10000000,"aspectratio":"1:100000","force":true}},\
            {"operation":"resize","params":{\(large),"force":true}},\
            {"operation":"zoom","params":{"factor":1000000}},{"operation":"\(operation)","params":{\(large)}}]
            """)
        // Returns a size or an error; arithmetic on the sides must not overflow.
        if let draft = try? imaginaryComposition(target, 400, 300) {
            #expect(draft.finalSize.width <= 1 << 30 && draft.finalSize.height <= 1 << 30)
        }
    }

    @Test func `a part of a rotated image is one of the upright image`() throws {
        let target = pipeline(
            """
            [{"operation":"rotate","params":{"rotate":90}},\
            {"operation":"extract","params":{"top":0,"left":0,"areawidth":30,"areaheight":10}}]
            """)
        let draft = try imaginaryComposition(target, 400, 300)
        // The top left of the turned image is the bottom left of the upright one.
        let whole = PixelSize(width: 400, height: 300)
        #expect(draft.region == ImageRegion(x: 0, y: 270, size: PixelSize(width: 10, height: 30), of: whole))
        #expect(draft.turn == 6 && draft.size == PixelSize(width: 30, height: 10))
    }

    @Test func `content that an intermediate format cannot hold is lost`() throws {
        let target = pipeline(
            "[{\"operation\":\"convert\",\"params\":{\"type\":\"jpeg\",\"background\":\"9,8,7\"}},"
                + "{\"operation\":\"convert\",\"params\":{\"type\":\"png\"}}]")
        let draft = try imaginaryComposition(target, 40, 30, .png, hasAlpha: true)
        #expect(draft.stepTexts == ["background 9,8,7,255"] && draft.format == .png)
        let black = try imaginaryComposition("/convert?type=jpeg&background=0,0,0", 40, 30, .png, hasAlpha: true)
        #expect(black.stepTexts == ["background 0,0,0,255"])
    }

    @Test(arguments: [
        (ImageFormat.jpeg, ImageFormat.jpeg), (.png, .png), (.webp, .webp), (.tiff, .jpeg), (.bmp, .jpeg),
    ])
    func `the format is the source's if it is encodable`(source: ImageFormat, format: ImageFormat) throws {
        #expect(try imaginaryComposition("/flip", 40, 30, source).format == format)
    }

    @Test(arguments: [ImageFormat.gif, .svg])
    func `sources without an encodable format need another one`(format: ImageFormat) throws {
        #expect(throws: ImagingError.formatNotAccepted(format)) { try imaginaryComposition("/flip", 40, 30, format) }
        #expect(try imaginaryComposition("/flip?type=png", 40, 30, format).format == .png)
    }

    @Test(arguments: [
        "/resize?width=99999999999", "/zoom?factor=99999999", "/crop?height=1e30&width=1", "/fit?width=1&height=1",
    ])
    func `impossible sides are rejected or bounded`(target: String) throws {
        let source = ImageHeader(format: .png, storedSize: PixelSize(width: 1, height: 65_535))
        let plan = try? RenderPlan(try imaginaryQuery(target).recipe, of: RecipeSource(header: source))
        #expect((plan?.outputSize.area ?? 0) <= ImagingLimits().maximumOutputPixels)
    }
}

/// Requests as sent by Nextcloud.
@Suite struct NextcloudTargetTests {
    @Test(arguments: [
        (4_096, ImageFormat.jpeg, 6, 600, 400), (256, .jpeg, 1, 256, 171), (256, .webp, 1, 256, 171),
        (4_096, .png, 1, 600, 400), (256, .heic, 8, 171, 256), (256, .avif, 6, 171, 256), (64, .jpeg, 8, 43, 64),
        (256, .tiff, 3, 256, 171), (256, .gif, 1, 256, 171), (256, .bmp, 1, 256, 171),
    ])
    func `the largest preview has the source's size, and others fit`(
        side: Int, format: ImageFormat, orientation: QuarterTurn, width: Int, height: Int
    ) throws {
        let isLarge = side == 4_096 && orientation == 6
        let (stored, first) = (isLarge ? (400, 600) : (600, 400), format == .heic ? nil : "autorotate")
        let draft = try imaginaryComposition(
            nextcloud("fit", side, first: first), stored.0, stored.1, format, orientation: orientation)
        #expect(draft.finalSize == PixelSize(width: width, height: height))
        // The decoder returns the image upright, and no steps follow.
        #expect(draft.turn == 1 && draft.steps.isEmpty)
        #expect(draft.format == .jpeg && draft.quality == .fixed(80))
    }

    @Test func `drawings are drawn at the preview's size`() throws {
        let draft = try imaginaryComposition(
            nextcloud("fit", 64, first: "convert", as: "png"), 120, 90, .svg, hasAlpha: true)
        #expect(draft.size == PixelSize(width: 64, height: 48) && draft.format == .png)
        #expect(draft.steps.isEmpty)
    }

    @Test func `cropped previews are squares of the salient part`() throws {
        let draft = try imaginaryComposition(nextcloud("smartcrop", 256), 400, 600, orientation: 6)
        #expect(draft.size == PixelSize(width: 384, height: 256))
        #expect(draft.stepTexts == ["attention 256x256"])
    }
}
