import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import Dialects

/// The plan of imgproxy's options for a source: format, frames, crops, turns and steps.
struct ImgproxyRecipeTests {
    private static let card = ImageHeader.still(.png, 400, 300)

    private func draft(
        _ options: String, _ header: ImageHeader = card, additions: [ImageHeader] = [], box: ImageRegion? = nil,
        accept: String? = nil, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> RenderDraft {
        try ImgproxyFixture.draft(options, header, additions: additions, box: box, accept: accept, configure)
    }

    private func keys(_ draft: RenderDraft) -> [String] { draft.steps.map(\.keyText) }

    /// The size and alpha of the result.
    private func shape(_ draft: RenderDraft, hasAlpha: Bool = false) -> FrameShape {
        draft.steps.shape(after: FrameShape(size: draft.size, hasAlpha: hasAlpha))
    }

    @Test func `the steps are in imgproxy's order, however the target is written`() throws {
        let made = try draft(
            "wm:1/pd:10/bg:0000ff/pix:4/sh:1/bl:1/ex:1/exar:1/rs:fill:60:90/c:150:90:nowe",
            additions: [.still(.png, 8, 8)]
        ) {
            $0.watermark = "m:a"
        }
        #expect(
            keys(made).map { $0.prefix { $0 != " " } } == [
                "crop", "blur", "sharpen", "pixelate", "pad", "overlay",
            ])
        #expect(made.region == ImageRegion(x: 0, y: 0, size: PixelSize(150, 90), of: PixelSize(400, 300)))
        #expect(shape(made) == FrameShape(size: PixelSize(80, 110), hasAlpha: false))
    }

    @Test func `a canvas is transparent if the format supports it, else white`() throws {
        #expect(keys(try draft("s:300:300/ex:1")) == ["canvas 300x300 0,38 0,0,0,0"])
        #expect(keys(try draft("s:300:300/ex:1/f:jpg")) == ["canvas 300x300 0,38 255,255,255,255"])
        #expect(
            keys(try draft("s:300:300/ex:1/bg:ff8800", .still(.png, 400, 300, hasAlpha: true)))
                == ["canvas 300x300 0,38 255,136,0,255", "background 255,136,0,255"])
        #expect(keys(try draft("w:100/bg:ff8800")).isEmpty)
        #expect(
            keys(try draft("w:100/f:jpg", .still(.png, 400, 300, hasAlpha: true))) == [
                "background 255,255,255,255"
            ])
    }

    @Test func `formats follow imgproxy's preferences`() throws {
        func format(_ options: String, _ header: ImageHeader, accept: String? = nil) throws -> ImageFormat {
            try draft(options, header, accept: accept).format
        }
        #expect(try format("", .still(.jpeg, 9, 9)) == .jpeg && format("", .still(.gif, 9, 9)) == .gif)
        #expect(try format("", .still(.webp, 9, 9)) == .jpeg && format("", .still(.webp, 9, 9, hasAlpha: true)) == .png)
        #expect(try format("s:20:20/ex:1", .still(.webp, 40, 30)) == .png)
        #expect(try format("s:20:20/exar:1", .still(.webp, 40, 30)) == .jpeg)
        #expect(
            try format("pd:1/bg:fff", .still(.webp, 40, 30)) == .jpeg && format("pd:1", .still(.webp, 40, 30)) == .png)
        #expect(try format("", .still(.tiff, 9, 9)) == .jpeg && format("", .still(.svg, 9, 9)) == .png)
        #expect(try format("f:webp", .still(.jpeg, 9, 9)) == .webp)
        // AVIF sides have at least 16 pixels.
        #expect(
            try format("f:avif/w:15", .still(.jpeg, 99, 99)) == .jpeg
                && format("f:avif/w:16", .still(.jpeg, 99, 99)) == .avif)
        #expect(try format("f:avif/w:15", .still(.png, 99, 99, hasAlpha: true)) == .png)
        #expect(throws: ImagingError.self) { try format("f:svg", .still(.png, 9, 9)) }
        #expect(try format("f:svg", .still(.svg, 9, 9)) == .png)
    }

    @Test func `Accept chooses only among the formats that the operator permits`() throws {
        let jpeg = ImageHeader.still(.jpeg, 400, 300)
        func format(_ options: String, accept: String, _ auto: [String], enforced: [String] = []) throws -> ImageFormat
        {
            try draft(options, jpeg, accept: accept) { configuration in
                for format in auto { configuration.defaults.negotiate(format, isEnforced: false) }
                for format in enforced { configuration.defaults.negotiate(format, isEnforced: true) }
            }.format
        }
        #expect(try format("", accept: "image/avif,image/webp", []) == .jpeg)
        #expect(try format("", accept: "image/webp;q=0.1,image/avif", ["webp", "avif"]) == .avif)
        #expect(try format("", accept: "image/webp;q=0", ["webp"]) == .jpeg)
        #expect(try format("", accept: "*/*", ["webp"]) == .jpeg)
        #expect(try format("f:png", accept: "image/webp", ["webp"]) == .png)
        #expect(try format("f:png", accept: "image/webp", [], enforced: ["webp"]) == .webp)
        #expect(try format("", accept: "image/jxl,image/avif", ["avif", "jxl"]) == .jxl)
    }

    @Test func `a request depends on Accept only if it can matter`() throws {
        func isNegotiated(_ options: String, isEnforced: Bool) throws -> Bool {
            try ImgproxyFixture.query(options + ImgproxyFixture.source) {
                $0.defaults.negotiate("webp", isEnforced: isEnforced)
            }.isNegotiated
        }
        #expect(try isNegotiated("", isEnforced: false) && !isNegotiated("f:png/", isEnforced: false))
        #expect(try isNegotiated("f:png/", isEnforced: true) && !isNegotiated("raw:1/", isEnforced: true))
        #expect(try !ImgproxyFixture.query(ImgproxyFixture.source).isNegotiated)
    }

    @Test func `qualities come from the target, the format and the operator`() throws {
        func quality(_ options: String) throws -> EncodingQuality {
            try draft(options, .still(.jpeg, 99, 99)).quality
        }
        #expect(try quality("") == .fixed(80) && quality("f:webp") == .fixed(79) && quality("f:avif") == .fixed(63))
        #expect(try quality("q:0") == .fixed(80) && quality("q:10/fq:jpeg:90") == .fixed(10))
        #expect(try quality("fq:jpeg:90") == .fixed(90) && quality("fq:webp:20:jpeg:0") == .fixed(80))
        #expect(
            try quality("mb:5000/q:70") == .fitting(bytes: 5_000, highest: 70, lowest: 5)
                && quality("mb:0") == .fixed(80))
    }

    @Test func `animations keep at most the allowed number of frames, in formats with animation`() throws {
        let gif = ImageHeader.still(.gif, 120, 80, frames: 5)
        func made(_ options: String, _ header: ImageHeader = gif, maximum: Int = 64) throws -> RenderDraft {
            try draft(options, header) { $0.defaults.maximumFrames = maximum }
        }
        #expect(try made("").frames == 5 && made("", maximum: 3).frames == 3 && made("", maximum: 1).frames == 1)
        #expect(try made("f:jpg").frames == 1 && made("f:webp").frames == 5)
        #expect(try made("", .still(.webp, 9, 9, frames: 5)).format == .gif)
        #expect(try made("t:10").trim == nil && made("t:10/f:png").trim != nil)
    }

    @Test func `a trim compares medians on magenta and is computed twice`() throws {
        let first = try draft("t:10.7:ff0000:1/w:50")
        #expect(first.trim?.tolerance == 10 && first.trim?.color == Color(red: 255, green: 0, blue: 0))
        #expect(first.trim?.matte == Color(red: 255, green: 0, blue: 255) && first.trim?.isEqualAcross == true)
        let box = ImageRegion(x: 40, y: 30, size: PixelSize(200, 100), of: PixelSize(400, 300))
        let second = try draft("t:10/c:50:50:soea/w:25", box: box)
        #expect(second.region == ImageRegion(x: 190, y: 80, size: PixelSize(50, 50), of: PixelSize(400, 300)))
        #expect(second.size == PixelSize(25, 25))
        #expect(try draft("t:-1").trim?.tolerance == 0 && draft("t:1e9").trim?.tolerance == 255)
        let turned = try draft("t:1:fff:1:0", .still(.jpeg, 400, 300, orientation: 6)).trim
        #expect(turned?.isEqualDown == true && turned?.isEqualAcross == false)
    }

    @Test func `the image is rotated back unless it must be upright`() throws {
        let stored = ImageHeader.still(.jpeg, 400, 600, orientation: 6)
        let upright = try draft("w:300", stored)
        #expect(upright.turn == 1 && upright.size == PixelSize(300, 200))
        let raw = try draft("ar:0/w:200", stored)
        #expect(raw.turn == 8 && raw.size == PixelSize(200, 300))
        #expect(try draft("ar:0/rot:90", stored).turn == 1)
        #expect(try draft("rot:90", stored).turn == 6 && draft("fl:1").turn == 2)
        #expect(try draft("rot:90/fl:1:0").turn == 5 && draft("fl:1:1").turn == 3)
    }

    @Test func `a crop has the result's orientation`() throws {
        let made = try draft("c:200:100:nowe/rot:90")
        #expect(made.region == ImageRegion(x: 0, y: 100, size: PixelSize(100, 200), of: PixelSize(400, 300)))
        #expect(made.size == PixelSize(200, 100) && made.turn == 6)
    }

    @Test func `smart crops use the image's content`() throws {
        #expect(keys(try draft("rs:fill:200:200/g:sm")) == ["attention 200x200"])
        let first = try draft("c:100:100:sm/w:50")
        #expect(first.region == nil && first.size == PixelSize(400, 300))
        #expect(keys(first) == ["attention 100x100", "resample 50x50 gamma.2"])
        #expect(keys(try draft("rs:fit:200:200/g:sm")).isEmpty)
    }

    @Test func `a raw or skipped image keeps its size, format and frames`() throws {
        for options in ["raw:1/w:10/f:png", "skp:gif/w:10", "skp:gif/w:10/f:gif"] {
            let made = try draft(options, .still(.gif, 120, 80, frames: 5))
            #expect(made.size == PixelSize(120, 80) && made.format == .gif && made.frames == 256 && made.steps.isEmpty)
        }
        #expect(try draft("skp:gif/w:10/f:webp", .still(.gif, 120, 80)).size.width == 10)
        #expect(try draft("raw:1", .still(.tiff, 9, 9, hasAlpha: true)).format == .png)
    }

    @Test func `a watermark is placed by imgproxy's rules`() throws {
        func key(_ options: String, _ mark: ImageHeader = .still(.png, 24, 16, hasAlpha: true)) throws -> String? {
            try draft(options, additions: [mark]) { $0.watermark = "m:a" }.steps.last?.keyText
        }
        #expect(try key("w:160/wm:1") == "overlay 0 24x16 0,0 24x16 gamma at 68,52 24x16 100")
        #expect(try key("w:80/wm:0.5:nowe:10:10/dpr:2") == "overlay 0 24x16 0,0 24x16 gamma at 20,20 24x16 50")
        #expect(try key("w:160/wm:1:soea:0.05:0.1:0.6") == "overlay 0 96x64 0,0 96x64 gamma at 56,44 96x64 100")
        #expect(try key("w:160/wm:1:we:-20") == "overlay 0 24x16 20,0 4x16 gamma at 0,52 4x16 100")
        #expect(try key("w:160/wm:1:re") == "overlay 0 24x16 4,12 24x16 gamma at 0,0 160x120 100")
        #expect(
            try key("w:160/wm:1:re:10:3") == "overlay 0 34x19 5,6 34x19 gamma pad 1,5,2,5 at 0,0 160x120 100")
        #expect(try key("w:160/wm:0.001") == nil)
        let padded = try draft("w:100/pd:40/bg:fff/wm:1:nowe", additions: [.still(.png, 24, 16)]) {
            $0.watermark = "m:a"
        }
        #expect(padded.steps.last?.keyText == "overlay 0 24x16 0,0 24x16 gamma at 0,0 24x16 100")
    }

    @Test func `the target's own limits reject sources`() throws {
        func fault(_ options: String, _ header: ImageHeader) -> Bool {
            (try? draft(options, header) { ($0.allowsSecurityOptions, $0.defaults.maximumFrames) = (true, 9) })
                == nil
        }
        let large = ImageHeader.still(.jpeg, 1_000, 1_000)
        #expect(fault("msr:0.9", large) && !fault("msr:1", large))
        let gif = ImageHeader.still(.gif, 1_000, 100, frames: 5)
        #expect(fault("msr:0.4", gif) && !fault("msr:0.5", gif) && fault("mafr:0.09", gif) && !fault("mafr:0.1", gif))
    }

    @Test func `weak filters have no effect`() throws {
        #expect(keys(try draft("bl:0.5/sh:0.3/pix:1")).isEmpty)
        #expect(keys(try draft("bl:0.6/sh:0.31/pix:2")).count == 3)
        #expect(ImgproxyFilters.deviation(ofBlur: 1e9) == 66_480_000)
    }

    @Test func `the key includes the inputs of the second draft`() throws {
        func key(_ options: String) throws -> String { try ImgproxyFixture.recipe(options).keyText }
        let plain = try key("")
        for options in [
            "w:1", "h:1", "rt:fill", "mw:1", "mh:1", "z:2", "dpr:2", "el:1", "ex:1", "exar:1", "g:no", "g:ce:1", "c:1",
            "c:0:0:so", "pd:1", "ar:0", "rot:90", "fl:1", "fl:0:1", "bg:fff", "bl:1", "sh:1", "pix:2", "wm:1",
            "wm:1:no",
        ] {
            #expect(try key(options) != plain, "\(options)")
        }
        #expect(
            plain
                == "imgproxy fit 0x0 least 0x0 1.0 1.0 1.0 false most 0 crop 0.0x0.0 ce 0.0 0.0 to ce 0.0 0.0 canvas off off"
                + " pad 0,0,0,0 turn true 0 false false background none filters 0.0 0.0 1 watermark 0.0 ce 0.0 0.0 0.0 1.0 gamma"
        )
    }
}
