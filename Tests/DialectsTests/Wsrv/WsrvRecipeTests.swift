import Memory
import Recipes
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

@Suite struct WsrvRecipeTests {
    @Test func `ll makes WebP lossless, and no other format`() throws {
        let source = RecipeSource(
            header: ImageHeader(format: .jpeg, storedSize: PixelSize(width: 400, height: 300)))
        for (query, isLossless) in [
            ("ll&output=webp", true), ("lossless=true&output=webp&q=50", true), ("output=webp&q=100", false),
            ("ll&output=png", false), ("ll", false),
        ] {
            #expect(try WsrvRecipe(wsrvOptions(query)).draft(of: source).isLossless == isLossless, "\(query)")
        }
    }

    @Test func `the steps have the service's order`() throws {
        let all = """
            mask=star&bg=red&tint=blue&blur=2&filt=sepia&sharp=1&gam=2&con=20&hue=30&bri=10&ro=30&fit=contain&w=200&h=200\
            &cw=90%25&mtrim
            """
        let texts = try wsrvComposition(all, 400, 300, .png).stepTexts
        #expect(
            texts.map { $0.split(separator: " ").first.map(String.init) ?? "" } == [
                "crop", "canvas", "rotate", "curves", "lch", "curves", "sharpen", "matrix", "blur", "tint",
                "background",
                "fitted", "crop",
            ])
        #expect(texts[5] == "curves sigmoid 20, power 2.0")
    }

    @Test(arguments: [
        ("bri=101", nil), ("bri=0", nil), ("bri", "curves offset -1"), ("bri=20", "curves offset 20"),
        ("con", "curves sigmoid -1"),
        ("con=101", nil), ("gam", "curves power 2.2"), ("gam=0", nil), ("gam=0.5", "curves power 2.2"),
        ("gam=3", "curves power 3.0"), ("hue", "lch 1.0 1.0 359"), ("hue=-90", "lch 1.0 1.0 270"),
        ("hue=360", nil), ("mod=1.5", "lch 1.5 1.0 0"), ("mod=", nil), ("mod=1", nil), ("mod=-1", nil),
        ("sat=2", "lch 1.0 2.0 0"), ("sat=10001", nil), ("sharp", "kernel sharpen"), ("sharp=", nil), ("sharp=0", nil),
        ("sharp=11", "kernel sharpen"), ("sharp=2", "sharpen lightness 2.0 1.0 2.0"),
        ("sharp=1,3,2", "sharpen lightness 2.0 1.0 3.0"),
        ("sharp=2&sharpf=-1&sharpj=6", "sharpen lightness 2.0 1.0 6.0"),
        ("blur", "kernel mean"), ("blur=", "kernel mean"), ("blur=0", nil), ("blur=0.2", "kernel mean"),
        ("blur=2.5", "blur 250000"), ("blur=1001", "kernel mean"), ("tint=red", "tint 255,0,0,255"), ("tint=0f00", nil),
        ("tint", nil), ("filt=greyscale", "grey"), ("filt=grayscale", nil), ("filt", nil),
        ("filt=duotone&start=red", "gradient 255,0,0,255 216,231,79,255"), ("filt=negate", "curves negative"),
        ("filt=sepia", "matrix 3588 7044 1368 2990 5870 1140 2392 4696 912"),
        ("filt=greyscale&tint=red", "grey"), ("rbg=red", nil), ("mbg=red", nil),
    ])
    func `values out of range are treated as by wsrv.nl`(query: String, step: String?) throws {
        #expect(try wsrvComposition(query, 400, 300).stepTexts == [step].compactMap { $0 })
    }

    @Test(arguments: [
        ("", ImageFormat.jpeg, ImageFormat.jpeg), ("", .png, .png), ("", .svg, .png), ("", .bmp, .png),
        ("", .jxl, .png),
        ("", .tiff, .jpeg), ("", .heic, .avif), ("", .avif, .avif), ("", .webp, .webp), ("", .gif, .gif),
        ("output=webp", .jpeg, .webp), ("fit=contain&w=9&h=9", .jpeg, .png),
        ("fit=contain&w=9&h=9&cbg=red", .jpeg, .jpeg),
        ("fit=contain&w=9&h=9&cbg=80ff0000", .jpeg, .png), ("fit=contain&w=9&h=9&bg=red", .jpeg, .jpeg),
        ("fit=contain&w=8&h=6", .jpeg, .jpeg), ("ro=30", .jpeg, .png), ("ro=30&rbg=red", .jpeg, .jpeg),
        ("ro=90", .jpeg, .jpeg), ("mask=circle", .jpeg, .png), ("mask=circle&mbg=white", .jpeg, .png),
        ("mask=circle", .webp, .webp), ("fit=contain&w=9&h=9&trim=9", .jpeg, .png), ("output=json", .gif, .gif),
    ])
    func `the format is the source's unless it lacks alpha that the image needs`(
        query: String, source: ImageFormat, format: ImageFormat
    ) throws {
        #expect(try wsrvComposition(query, 400, 300, source).format == format)
    }

    @Test func `transparent pixels become black in a format without alpha`() throws {
        let plain = try wsrvComposition("output=jpg", 400, 300, .png, hasAlpha: true)
        #expect(plain.stepTexts == ["background 0,0,0,255"])
        let white = try wsrvComposition("output=jpg&bg=white", 400, 300, .png, hasAlpha: true)
        #expect(white.stepTexts == ["background 255,255,255,255"])
        let bars = try wsrvComposition("output=jpg&fit=contain&w=9&h=9", 400, 300)
        #expect(bars.stepTexts == ["canvas 9x9 0,1 0,0,0,0", "background 0,0,0,255"])
    }

    @Test func `a background behind gray is gray`() throws {
        let draft = try wsrvComposition("filt=greyscale&bg=red", 40, 30, .png, hasAlpha: true)
        #expect(draft.stepTexts == ["grey", "background 54,54,54,255"])
    }

    @Test func `pages and frames are chosen, and missing ones are rejected`() throws {
        func pages(_ query: String, _ format: ImageFormat = .gif) throws -> [Int] {
            let draft = try wsrvComposition(query, 40, 30, format, frames: 5)
            return [draft.page, draft.frames]
        }
        #expect(
            try pages("") == [0, 1] && pages("n=0") == [0, 1] && pages("n=-2") == [0, 1] && pages("n") == [0, 5])
        #expect(try pages("page=2") == [2, 1] && pages("page=2&n=2") == [2, 2] && pages("page=2&n=-1") == [2, 3])
        #expect(try pages("page=-1") == [0, 1] && pages("page=100001") == [0, 1] && pages("pages=5") == [0, 5])
        #expect(try pages("page=7&n=9", .jpeg) == [0, 1])
        #expect(throws: ImagingError.noSuchPage(5, pages: 5)) { try pages("page=5") }
        #expect(throws: ImagingError.noSuchPage(5, pages: 5)) { try pages("page=2&n=4") }
        let small = ImageHeader(format: .tiff, storedSize: PixelSize(width: 10, height: 10), frames: 3)
        let large = ImageHeader(format: .tiff, storedSize: PixelSize(width: 20, height: 10), frames: 3)
        var header = small
        header.pages = [small, large, large]
        let source = RecipeSource(header: header)
        #expect(try WsrvRecipe(wsrvOptions("page=-1")).draft(of: source).page == 1)
        #expect(try WsrvRecipe(wsrvOptions("page=-2")).draft(of: source).page == 0)
    }

    @Test func `an animation may have other timing`() throws {
        func timing(_ query: String) throws -> FrameTiming? {
            try wsrvComposition("n=-1&" + query, 40, 30, .gif, frames: 3).timing
        }
        #expect(try timing("delay=50") == FrameTiming(delays: [50, 50, 50], loop: nil))
        #expect(try timing("delay=50,60&loop=2") == FrameTiming(delays: [50, 60], loop: 2))
        #expect(try timing("delay=1,2,3,4,5") == FrameTiming(delays: [1, 2, 3], loop: nil))
        #expect(
            try timing("delay=50,-1") == nil && timing("delay") == nil && timing("delay=") == nil
                && timing("loop") == nil)
    }

    @Test func `borders are found in stills only, with sides of at least three pixels`() throws {
        #expect(try wsrvComposition("trim=10", 40, 30).trim?.tolerance == 10)
        for query in ["trim", "trim=", "trim=0", "trim=255"] { #expect(try wsrvComposition(query, 40, 30).trim == nil) }
        #expect(try wsrvComposition("trim=10", 40, 2).trim == nil)
        #expect(try wsrvComposition("trim=10&n=-1", 40, 30, .gif, frames: 2).trim == nil)
    }

    @Test func `no parameter changes color handling, which is the service's`() throws {
        for query in ["", "w=10", "output=webp", "encoding=base64", "filt=sepia"] {
            #expect(try wsrvComposition(query, 40, 30).gamut == nil)
        }
    }

    @Test func `sizes are computed from the trimmed image`() throws {
        let header = ImageHeader(format: .png, storedSize: PixelSize(width: 400, height: 300))
        let box = ImageRegion(x: 50, y: 50, size: PixelSize(width: 200, height: 100), of: header.size)
        func draft(_ query: String) throws -> RenderDraft {
            try WsrvRecipe(wsrvOptions("trim=10&" + query)).draft(of: RecipeSource(header: header, box: box))
        }
        #expect(try draft("w=100").size.description == "100×50")
        // Percentages refer to the whole image.
        #expect(try draft("w=50%25").size.description == "200×100")
        let cropped = try draft("cx=10&cy=20&cw=30&ch=40&precrop")
        #expect(cropped.region == ImageRegion(x: 60, y: 70, size: PixelSize(width: 30, height: 40), of: header.size))
    }

    @Test func `a key includes every option that affects pixels after a trim`() throws {
        let options = """
            w=1&h=2&cx=3&cy=4&cw=5&ch=50%25&dpr=2&fpx=0.1&fpy=0.2&mod=3&sat=4&gam=2&sharp=5&sharpf=6&sharpj=7&blur=8&ro=9&bri=1\
            &hue=2&con=3&we&precrop&mtrim&flip&flop&mbg=red&bg=red&cbg=red&rbg=red&tint=red&start=red&stop=red&fit=cover&a=top\
            &mask=star&filt=sepia
            """.split(separator: "&").map(String.init)
        let all = try WsrvRecipe(wsrvOptions(options.joined(separator: "&"))).keyText
        var texts: Set<String> = [all]
        for index in options.indices {
            var fewer = options
            fewer.remove(at: index)
            texts.insert(try WsrvRecipe(wsrvOptions(fewer.joined(separator: "&"))).keyText)
        }
        #expect(texts.count == options.count + 1)
        #expect(
            try WsrvRecipe(wsrvOptions("w=1&h=50%25&bg=red&ro=9&a=top&we")).keyText
                == "wsrv w=1 h=0.5 of ro=9 we=true bg=255,0,0,255 a=top")
    }

    @Test func `a translucent background is added, and a trim ignores single pixels`() throws {
        let half = try wsrvComposition("bg=80ff0000", 400, 300, .png, hasAlpha: true)
        #expect(half.stepTexts == ["background 255,0,0,128 sum"])
        // Four digits are alpha, red, green and blue; JPEG has black where transparency remains.
        let short = try wsrvComposition("bg=8f00&output=jpg", 400, 300, .png, hasAlpha: true)
        #expect(short.stepTexts == ["background 255,0,0,136 sum", "background 0,0,0,255"])
        #expect(try wsrvComposition("bg=f00", 400, 300, .png, hasAlpha: true).stepTexts == ["background 255,0,0,255"])
        #expect(try wsrvComposition("bg=8f00", 400, 300, .jpeg).stepTexts == ["background 255,0,0,136 sum"])
        #expect(try wsrvComposition("trim=10", 400, 300).trim?.matte == .black)
    }

    @Test func `facts are those of the result`() throws {
        func facts(_ query: String, _ header: ImageHeader) throws -> WrittenResponse? {
            let thumbnail = Thumbnail(
                RenderedImage(
                    EncodedImage(
                        bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: 30, height: 20), quality: nil),
                    eTag: "\"a\"", cacheStatus: []), sourceHeader: header, lastModified: nil, freshness: Freshness())
            return try WsrvRecipe(wsrvOptions(query)).writtenResponse(about: thumbnail)
        }
        func text(_ query: String, _ header: ImageHeader) throws -> String {
            guard case .text(let text) = try facts(query, header)?.body else { return "" }
            return text
        }
        let photo = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 300, height: 200), isChromaSubsampled: true)
        let answer = try facts("output=json", photo)
        #expect(answer?.mediaType == "application/json")
        #expect(
            answer?.body
                == .text(
                    """
                    {"format":"jpeg","width":30,"height":20,"space":"srgb","channels":3,"depth":"uchar","chromaSubsampling":"4:2:0",\
                    "isProgressive":false,"hasProfile":false,"hasAlpha":false,"orientation":0}
                    """))
        #expect(try text("output=json&mask=circle", photo).contains("\"channels\":4"))
        let moving = ImageHeader(format: .gif, storedSize: PixelSize(width: 300, height: 200), frames: 3)
        let strip = try text("output=json&n=-1", moving)
        #expect(strip.contains("\"height\":60,") && strip.contains("\"pages\":3,\"pageHeight\":20,"))
        let encoded = try #require(try facts("encoding=BASE64", photo))
        #expect(encoded.mediaType == "text/plain" && encoded.body == .thumbnail)
        #expect(try text("output=json&encoding=base64", photo).hasPrefix("data:application/json;base64,"))
        func isDataURL(_ query: String) throws -> Bool {
            try WsrvRecipe(wsrvOptions(query)).draft(of: RecipeSource(header: photo)).isDataURL
        }
        #expect(try isDataURL("encoding=base64") && !isDataURL("encoding=base64&output=json") && !isDataURL("w=3"))
        #expect(try facts("encoding=hex", photo) == nil)
        #expect(try wsrvQuery("url=h.example&encoding=hex").form.writer == nil)
        #expect(try wsrvQuery("url=h.example&encoding=base64").form.writer != nil)
    }
}
