import Memory
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Requests and drafts of thumbor and imagor targets.
struct ThumborRecipeTests {
    private func dialect(_ change: (inout ThumborConfiguration) -> Void = { _ in }) throws -> ThumborDialect {
        var configuration = ThumborConfiguration()
        configuration.prefix = PathPrefix("/img")
        change(&configuration)
        return try #require(ThumborDialect(configuration))
    }

    private func query(
        _ path: String, accept: String? = nil, _ change: (inout ThumborConfiguration) -> Void = { _ in }
    ) throws -> Request {
        try dialect(change).request(in: RequestedTarget("/img/unsafe/" + path, accept: accept))
    }

    private func draft(
        _ path: String, _ header: ImageHeader, accept: String? = nil, box: ImageRegion? = nil,
        _ change: (inout ThumborConfiguration) -> Void = { _ in }
    ) throws -> RenderDraft {
        let recipe = try query(path + "/a.example/b", accept: accept, change).recipe
        return try recipe.recipe.draft(of: RecipeSource(header: header, box: box))
    }

    private static func header(
        _ format: ImageFormat = .jpeg, _ width: Int = 400, _ height: Int = 300, frames: Int = 1, hasAlpha: Bool = false
    ) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height), bands: hasAlpha ? 4 : 3,
            frames: frames,
            hasAlpha: hasAlpha)
    }

    @Test func `a target is matched below its prefix only`() throws {
        let dialect = try dialect()
        guard case .exact = dialect.match(on: "/img/unsafe/a.example/b") else {
            Issue.record("not claimed")
            return
        }
        guard case .none = dialect.match(on: "/image/unsafe/a.example/b") else {
            Issue.record("claimed")
            return
        }
    }

    @Test func `WebP of quality 100 is lossless as thumbor's, and lossless() as imagor's`() throws {
        func isLossless(_ filters: String) throws -> Bool {
            try draft("10x10/filters:\(filters)", Self.header()).isLossless
        }
        #expect(try isLossless("format(webp):quality(100)") && isLossless("format(webp):lossless()"))
        #expect(try isLossless("format(jxl):lossless()") && isLossless("format(png):lossless()"))
        #expect(try !isLossless("format(webp):quality(99)") && !isLossless("quality(100)"))
        #expect(try !isLossless("format(avif):lossless()") && !isLossless("format(jxl):quality(100)"))
        #expect(try !isLossless("format(webp):quality(100):max_bytes(5000)"))
        let large = try draft("3000x3000/filters:format(webp):quality(100)", Self.header(.jpeg, 4_000, 4_000))
        #expect(!large.isLossless && large.quality == .fixed(100))
    }

    @Test func `colors are preserved unless a filter or a setting of thumbor's or imagor's strips them`() throws {
        func gamut(_ filter: String, strips: Bool = false) throws -> Gamut? {
            try draft("10x10/filters:\(filter)", Self.header()) { $0.stripsProfile = strips }.gamut
        }
        #expect(try gamut("quality(80)") == .auto && gamut("strip_exif()") == .auto)
        for filter in ["strip_icc()", "strip_metadata()", "to_colorspace()", "to_colorspace(srgb)"] {
            #expect(try gamut(filter) == .srgb)
        }
        #expect(try gamut("quality(80)", strips: true) == .srgb)
    }

    @Test func `the query has the sources, marks and ignored filters`() throws {
        let query = try query(
            "300x200/filters:watermark(b.example/m.png,0,0,0):nosuch():max_age(7)/http%3A%2F%2Fa.example%2Fb.png?x=1")
        #expect(query.source == "http://a.example/b.png")
        #expect(query.additional == [AdditionalSource(.watermark, source: "http://b.example/m.png")])
        #expect(query.ignoredOptions == ["nosuch()"] && query.form.maximumAge == 7 && query.form.writer == nil)
        #expect(throws: APIError.self) { try self.query("") }
        #expect(throws: APIError.self) { try self.query("300x200/") }
    }

    @Test func `mirrors and rotations become one orientation`() throws {
        let header = Self.header()
        #expect(try draft("-200x150", header).turn == 2)
        #expect(try draft("200x-150", header).turn == 4)
        #expect(try draft("-200x-150", header).turn == 3)
        #expect(try draft("filters:orient(90)", header).turn == 8)
        #expect(try draft("-x/filters:orient(90)", header).turn == 7)
        #expect(try draft("x-/filters:orient(270)", header).turn == 7)
        let turned = try draft("fit-in/200x200/filters:orient(90)", header)
        #expect(turned.size == PixelSize(width: 150, height: 200) && turned.region == nil)
        // The left quarter of an image rotated counterclockwise is the top of the stored image.
        let region = try draft("0x0:75x400/filters:orient(90)", header).region
        #expect(region?.y == 0 && region?.x == 0 && region?.size == PixelSize(width: 400, height: 75))
    }

    @Test func `trims compare distances, and leave animations unchanged`() throws {
        let trim = try #require(try draft("trim:bottom-right:30", Self.header()).trim)
        #expect(trim.tolerance == 30 && trim.isDistance && trim.isFromBottomRight)
        #expect(try draft("trim", Self.header(.gif, frames: 5)).trim == nil)
        let whole = PixelSize(width: 400, height: 300)
        let box = ImageRegion(x: 50, y: 60, size: PixelSize(width: 200, height: 100), of: whole)
        let trimmed = try draft("trim/100x0:150x90/x", Self.header(), box: box)
        #expect(trimmed.region == ImageRegion(x: 100, y: 60, size: PixelSize(width: 50, height: 30), of: whole))
    }

    @Test func `the format is the target's, then Accept's, then the source's`() throws {
        let accepting: (inout ThumborConfiguration) -> Void = { $0.automaticFormats = [.avif, .webp] }
        let accept = "image/webp,image/avif,*/*"
        #expect(try draft("x", Self.header(), accept: accept).format == .jpeg)
        #expect(try draft("x", Self.header(), accept: accept, accepting).format == .avif)
        #expect(try draft("x", Self.header(.gif, frames: 5), accept: accept, accepting).format == .webp)
        #expect(try draft("filters:format(png)", Self.header(), accept: accept, accepting).format == .png)
        let moving = Self.header(.gif, frames: 5, hasAlpha: true)
        #expect(try draft("filters:format(avif):fallback_format(webp)", moving).format == .webp)
        #expect(try draft("filters:format(avif)", moving).format == .avif)
        #expect(try draft("filters:autojpg()", Self.header(.png)).format == .jpeg)
        #expect(try draft("filters:autojpg()", Self.header(.png, hasAlpha: true)).format == .png)
        #expect(try draft("x", Self.header(.svg, hasAlpha: true)).format == .png)
        #expect(try query("x/a.example/b", accepting).isNegotiated)
        #expect(
            try query("filters:format(png)/a.example/b", accepting).isNegotiated == false)
    }

    @Test func `quality is 80 by default, and searched for if the bytes are limited`() throws {
        #expect(try draft("x", Self.header()).quality == .fixed(80))
        #expect(try draft("filters:quality(7)", Self.header()).quality == .fixed(7))
        let bounded = try draft("filters:quality(95):max_bytes(3000)", Self.header())
        #expect(bounded.quality == .fitting(bytes: 3_000, highest: 95, lowest: 10))
    }

    @Test func `raw preserves the whole image in its own format`() throws {
        let raw = try draft("trim/10x10:50x50/30x30/filters:raw():format(png):invert()", Self.header())
        #expect(raw.size == PixelSize(width: 400, height: 300) && raw.region == nil && raw.trim == nil)
        #expect(raw.format == .jpeg && raw.steps.isEmpty && raw.turn == 1)
    }

    @Test func `equal targets make equal plans, whatever their spelling`() throws {
        func plan(_ path: String) throws -> RenderPlan {
            try RenderPlan(
                try query(path + "/a.example/b").recipe, of: RecipeSource(header: Self.header()))
        }
        #expect(try plan("200x150") == plan("200x/filters:nosuch()"))
        #expect(try plan("200x150") != plan("200x150/filters:quality(81)"))
        #expect(throws: ImagingError.self) { try plan("1000000x1000000") }
        #expect(throws: ImagingError.self) { try plan("filters:padding(red,1000000)") }
    }

    @Test func `facts are thumbor's`() throws {
        let query = try query("meta/-100x300/a.example/b.png")
        let thumbnail = Thumbnail(
            RenderedImage(
                EncodedImage(
                    bytes: SharedBytes([1]), format: .jpeg, size: PixelSize(width: 100, height: 300), quality: nil),
                eTag: "\"a\"", cacheStatus: []), sourceHeader: Self.header(), lastModified: nil, freshness: Freshness())
        let written = try #require(query.form.writer?.response(about: thumbnail))
        #expect(written.mediaType == "application/json")
        #expect(
            written.body
                == .text(
                    """
                    {"thumbor": {"source": {"url": "http://a.example/b.png", "width": 400, "height": 300, "frameCount": 1}, \
                    "operations": [{"type": "crop", "left": 150, "top": 0, "right": 250, "bottom": 300}, \
                    {"type": "flip_horizontally"}], "target": {"width": 100, "height": 300}}}
                    """))
    }
}
