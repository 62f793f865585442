import Recipes
import Testing
import Text
import ThumbnailTypes

@testable import Dialects

/// Filters of thumbor and imagor, and their steps.
struct ThumborFilterTests {
    private func reader(_ filters: String, isMeta: Bool = false) throws -> ThumborFilterReader {
        var reader = ThumborFilterReader(ThumborConfiguration(), isMeta: isMeta)
        try reader.read(ThumborTarget(sent: "filters:\(filters)/a").filters)
        return reader
    }

    private func steps(
        _ path: String, _ size: PixelSize = PixelSize(width: 400, height: 300), alpha: Bool = false
    ) throws
        -> [String]
    {
        let target = try ThumborTarget(sent: path + "/a")
        var reader = ThumborFilterReader(ThumborConfiguration())
        try reader.read(target.filters)
        var options = reader.options
        options.geometry = target.geometry.with(options.geometry)
        let recipe = ThumborRecipe(options: options, accepted: [], quality: 80, text: target.optionText)
        let header = ImageHeader(format: .png, storedSize: size, bands: alpha ? 4 : 3, hasAlpha: alpha)
        let marks = reader.marks.map { _ in
            ImageHeader(format: .png, storedSize: PixelSize(width: 80, height: 40), bands: 4, hasAlpha: true)
        }
        return try recipe.draft(of: RecipeSource(header: header, additions: marks)).steps.map(\.keyText)
    }

    @Test(arguments: [
        "nosuch(1,2)", "quality(abc)", "brightness(1.5x)", "blur(0.00001)", "sharpen(0,1,false)", "brightness()",
        "rgb(1,2)", "blur(0)", "blur(x)",
        "curve([(0,255)])",
        "format(foo)", "format(heic)", "rotate(45)", "fill(red,maybe)", "round_corner(x)", "watermark(http://a/b)",
        "watermark(http://a/b,1,2)", "watermark(http://a/b,x,2,0)", "focal(abc)", "proportion(-2)", "proportion(0)",
        "convolution(1;2,2)", "convolution(1;2;1;2,3)", "max_bytes(0)", "expire(abc)", "saturation(NaN)", "hue(inf)",
        "curve([(0,0),(0,9)],[(0,0)],[(0,0)],[(0,0)])", "colorize(1,2,3,red)", "noise(-1)", "label(a)",
        "extract_focal()",
        "orient(45)", "padding(red)", "crop(1,2,3)", "image()", "to_colorspace(p3)", "trim(x)", "frame(http://a/b)",
        "autojpg(9)",
    ])
    func `unknown or malformed filters have no effect and are reported`(filter: String) throws {
        let reader = try reader(filter)
        #expect(reader.options == ThumborOptions() && reader.ignored == [filter] && reader.marks.isEmpty)
    }

    @Test(arguments: ["redact()", "redact(pixelate)", "redact_oval()"])
    func `filters that hide faces are rejected`(filter: String) {
        var disabling = ThumborConfiguration()
        (disabling.disabledFilters, disabling.maximumFilters) = (["redact", "redact_oval"], 0)
        for configuration in [ThumborConfiguration(), disabling] {
            var reader = ThumborFilterReader(configuration, isMeta: false)
            let error = #expect(throws: APIError.self) {
                try reader.read(ThumborTarget(sent: "filters:\(filter)/a").filters)
            }
            #expect(error?.response.code == .unsupportedOption)
        }
    }

    @Test func `only plain marks are drawn on layers, and only on layers that cover`() throws {
        for filter in ["blur(3)", "image(/9x9/color:red,repeat,0)", "image(/9x9/color:red,0,0,0,screen)"] {
            let reader = try reader("image(/90x90/filters:\(filter)/color:blue,0,0)")
            #expect(reader.ignored == [filter] && reader.options.filters.count == 1)
        }
        for layer in ["0,0,50", "repeat,0", "0,0,0,multiply"] {
            let reader = try reader("image(/90x90/filters:image(/9x9/color:red,0,0)/color:blue,\(layer))")
            #expect(reader.ignored == ["image(/9x9/color:red,0,0)"])
        }
    }

    @Test(arguments: [
        "fill(nocolour)", "background_color(12)", "round_corner(1,2,what)", "padding(zzz,1)", "image(/1x1/color:x,0,0)",
    ])
    func `invalid colors are rejected`(filter: String) {
        #expect(throws: APIError.self) { try reader(filter) }
    }

    @Test func `filters determine format, quality, size in bytes, freshness and name`() throws {
        let reader = try reader(
            "format(JPG):fallback_format(webp):quality(%2030%20):max_bytes(5000):max_age(60):expire(2000):attachment(a.png):"
                + "autojpg():page(3):max_frames(4):dpi(144):strip_icc():preview()")
        #expect(reader.options.format == .jpeg && reader.options.fallback == .webp)
        #expect(reader.options.quality == 30 && reader.options.maximumBytes == 5_000)
        #expect(reader.form.maximumAge == 60 && reader.form.isAttachment && reader.form.fileName == "a.png")
        #expect(reader.expires == 2 && reader.options.replacesPNG && reader.options.page == 2)
        #expect(reader.options.frames == 4 && reader.options.resolution == 144 && reader.ignored.isEmpty)
    }

    @Test func `filters disabled by an operator have no effect`() throws {
        var configuration = ThumborConfiguration()
        configuration.disabledFilters = ["blur"]
        var reader = ThumborFilterReader(configuration)
        try reader.read(ThumborTarget(sent: "filters:blur(3):grayscale()/a").filters)
        #expect(reader.ignored == ["blur(3)"] && reader.options.filters.count == 1)
        configuration.maximumFilters = 2
        reader = ThumborFilterReader(configuration)
        try reader.read(ThumborTarget(sent: "filters:grayscale():blur(3):invert()/a").filters)
        #expect(reader.ignored == ["blur(3)", "invert()"] && reader.options.filters.count == 1)
    }

    @Test func `more than eight marks are rejected`() throws {
        func filters(_ count: Int) -> String {
            [String](repeating: "watermark(http://a/b,0,0,0)", count: count).joined(separator: ":")
        }
        #expect(try reader(filters(8)).marks.count == 8)
        #expect(throws: APIError.self) { try reader(filters(9)) }
    }

    @Test func `facts that imagor rejects are rejected`() throws {
        #expect(throws: APIError.self) { try reader("blurhash(12,3)", isMeta: true) }
        #expect(throws: APIError.self) { try reader("thumbhash(1)", isMeta: true) }
        #expect(try reader("blurhash(4,3)", isMeta: true).ignored == ["blurhash(4,3)"])
        #expect(try reader("blurhash(12,3)").ignored == ["blurhash(12,3)"])
    }

    @Test(
        arguments: [
            ("fit-in/300x300/filters:fill(red)", ["canvas 300x300 0,37 255,0,0,255"]),
            ("fit-in/300x/filters:fill(red)", []), ("filters:fill(red)", []),
            (
                "fit-in/800x800/filters:upscale():fill(red)",
                ["resample 800x600 gamma.2", "canvas 800x800 0,100 255,0,0,255"]
            ),
            ("fit-in/800x800/filters:fill(red):upscale()", ["canvas 800x800 200,250 255,0,0,255"]),
            (
                "fit-in/300x200/filters:rotate(90):fill(red)",
                ["turn 8", "crop 0,34 200x200", "canvas 300x200 50,0 255,0,0,255"]
            ),
            ("fit-in/300x300/filters:fill(auto)", ["backdrop mean 300x300 0,37"]),
            ("fit-in/300x300/filters:fill(blur)", ["backdrop blurred 2500000 300x300 0,37"]),
            ("fit-in/200x200/10x20:30x40/filters:fill(red)", ["canvas 240x260 10,45 255,0,0,255"]),
            ("fit-in/200x200/10x10", []), ("filters:proportion(0.5)", ["resample 200x150 gamma.2"]),
            ("filters:proportion(50)", ["resample 200x150 gamma.2"]), ("filters:proportion(1000)", []),
            ("filters:proportion(2)", ["resample 800x600 gamma.2"]),
            ("filters:brightness(-2.5)", ["formula scales 10000,-63750 10000,-63750 10000,-63750"]),
            ("filters:contrast(0.5)", ["formula scales 10100,-12800 10100,-12800 10100,-12800"]),
            ("filters:rgb(0.5,0,-1)", ["formula scales 10000,12750 10000,0 10000,-25500"]),
            ("filters:blur(1.5)", ["blur 75000"]), ("filters:sharpen(2)", ["sharpen 500000"]),
            ("filters:sharpen(9,2)", ["sharpen 500000"]), ("filters:sharpen(2,1.0,false)", ["sharpen 300000 by 150"]),
            ("filters:sharpen(0.5,1,true)", ["sharpen 300000 by 37"]), ("filters:background_color(auto)", []),
            ("200x150/filters:padding(red,10,20)", ["pad 20,10,20,10 255,0,0,255"]),
            ("200x150/filters:crop(150,100,500,500)", ["crop 150,100 50x50"]), ("filters:rotate(-90)", ["turn 6"]),
            ("filters:rotate(450)", ["turn 8"]), ("filters:rotate(360)", []), ("filters:pixelate()", ["pixelate 10"]),
            ("filters:brightness(50)", ["formula scales 10000,1275000 10000,1275000 10000,1275000"]),
            ("filters:contrast(-100)", ["formula scales 0,1280000 0,1280000 0,1280000"]),
            ("filters:saturation(0.4)", ["formula saturation 4000"]),
            ("filters:saturation(50)", ["formula lab 10000 15000 0"]),
            ("filters:hue(-90)", ["formula lab 10000 10000 2700000"]),
            ("filters:sharpen(2,1.0,true)", ["sharpen 300000 by 150"]),
            ("filters:blur(4)", ["blur 200000"]), ("filters:blur(100,1)", ["blur 100000"]),
            ("filters:round_corner(20)", ["radius 20000,20000 0,0,0,0"]),
            ("filters:round_corner(20|60,1,2,3)", ["radius 20000,60000 1,2,3,255"]),
            ("filters:round_corner(5,6,red)", ["radius 5000,6000 255,0,0,255"]),
            ("200x400/smart", ["attention 200x400"]),
            ("debug/200x200/filters:invert()", ["formula scales -10000,2550000 -10000,2550000 -10000,2550000"]),
        ] as [(String, [String])])
    func `filters become steps in the order of the URL`(path: String, expected: [String]) throws {
        #expect(try steps(path) == expected)
    }

    @Test func `transparency is filled only on request, and dropped by formats without it`() throws {
        #expect(try steps("filters:fill(red)", alpha: true) == [])
        #expect(try steps("filters:fill(red,true)", alpha: true) == ["background 255,0,0,255"])
        #expect(try steps("filters:background_color(transparent)", alpha: true) == [])
        #expect(try steps("filters:format(jpeg)", alpha: true) == ["opaque"])
        #expect(try steps("filters:format(jpeg):round_corner(9)") == ["radius 9000,9000 0,0,0,0", "opaque"])
        #expect(try steps("filters:format(jpeg):background_color(red)", alpha: true) == ["background 255,0,0,255"])
    }

    @Test func `single marks are overlays, and marks on a grid, with a mode or in one color are blended`() throws {
        let once = try steps("filters:watermark(http://a/b,10,-20,30)")
        #expect(once == ["overlay 0 80x40 0,0 80x40 gamma at 10,240 80x40 70"])
        #expect(try steps("filters:watermark(http://a/b,10,20,100)") == [])
        #expect(try steps("filters:watermark(http://a/b,900,20,0)") == [])
        let grid = try steps("filters:watermark(http://a/b,repeat,repeat,0)")
        #expect(grid == ["blend normal 0 80x40 0,0 80x40 gamma at 0*5+80 0*7+43 100"])
        let color = try steps("filters:image(/100x50/color:ff0000,right,bottom,30,multiply)")
        #expect(color == ["blend multiply 255,0,0,255 100x50 at 300*1+0 250*1+0 70"])
        let nested = try steps(
            "filters:image(/100x50/filters:image(/20x20/filters:image(/1x1/color:lime,5,5)/color:red,90,40)/color:blue,10,20)"
        )
        // Each layer is clipped at the edges of the layer below it.
        #expect(
            nested == [
                "blend normal 0,0,255,255 100x50 at 10*1+0 20*1+0 100",
                "blend normal 255,0,0,255 10x10 at 100*1+0 60*1+0 100",
                "blend normal 0,255,0,255 1x1 at 105*1+0 65*1+0 100",
            ])
        let pictures = try steps("filters:image(/filters:watermark(http://a/c,-10,10,0)/http://a/b,-350,0)")
        #expect(
            pictures == [
                "overlay 0 80x40 30,0 50x40 gamma at 0,0 50x40 100",
                "overlay 1 80x40 40,0 40x30 gamma at 0,10 40x30 100",
            ])
        let cut = try steps("filters:image(/40x40/http://a/b,10,20)")
        #expect(cut == ["blend normal 0 80x40 20,0 40x40 gamma at 10*1+0 20*1+0 100"])
    }

    /// The values are recorded from thumbor's cubic splines.
    @Test func `curves pass through their points and are constant outside`() throws {
        let reader = try reader("curve([(0,0),(255,255)],[(10,50),(128,170),(200,254)],[(7,9)],[(0,255),(255,0)])")
        guard case .color(.curves(let tables)) = try #require(reader.options.filters.first) else {
            Issue.record("no curves")
            return
        }
        #expect(tables[0] == 50 && tables[10] == 50 && tables[128] == 170 && tables[200] == 254 && tables[255] == 254)
        #expect(tables[256...511].allSatisfy { $0 == 9 })
        #expect(tables[512] == 255 && tables[512 + 128] == 127 && tables[767] == 0)
    }

    @Test func `hostile arguments neither trap nor take long`() throws {
        let digits = String(repeating: "9", count: 1_000)
        let names = [
            "brightness", "contrast", "saturation", "hue", "blur", "sharpen", "pixelate", "rotate", "proportion",
            "quality", "max_bytes",
            "max_age", "expire", "page", "dpi", "max_frames", "noise", "round_corner", "orient", "focal", "trim",
            "padding", "crop",
            "rgb", "modulate", "colorize", "convolution", "fill", "watermark", "image", "equalize",
        ]
        for name in names {
            for arguments in [
                digits, "-\(digits)", "\(digits),\(digits)", "\(digits),\(digits),\(digits),\(digits)", "0.\(digits)",
                "-", "-.", ",", ",,,,",
            ] {
                let path = "fit-in/65535x65535/filters:upscale():\(name)(\(arguments)):fill(red)"
                _ = try? steps(path)
                _ = try? steps(path, PixelSize(width: 10_000_000, height: 1))
            }
        }
    }
}
