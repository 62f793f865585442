import Recipes
import Testing

@testable import Dialects

/// Sizes and crops as in responses of thumbor 7.8.
struct ThumborLayoutTests {
    private static let odd = PixelSize(width: 641, height: 427)
    private static let land = PixelSize(width: 1_200, height: 800)
    private static let port = PixelSize(width: 600, height: 900)
    private static let quad = PixelSize(width: 400, height: 300)

    private func layout(
        _ path: String, _ size: PixelSize, _ change: (inout ThumborGeometry) -> Void = { _ in }
    ) throws
        -> ThumborLayout
    {
        var geometry = try ThumborTarget(sent: (path + "/a")).geometry
        change(&geometry)
        return ThumborLayout(geometry, of: ImageRegion(allOf: size))
    }

    @Test(arguments: [
        ("300x", land, 300, 200), ("0x200", land, 300, 200), ("x", land, 1_200, 800), ("331x", port, 331, 496),
        ("1000x", odd, 1_000, 666), ("origx200", odd, 641, 200), ("200xorig", odd, 200, 427),
        ("800x600", odd, 800, 600),
        ("fit-in/300x300", land, 300, 200), ("fit-in/2000x2000", land, 1_200, 800), ("fit-in/400x", odd, 399, 266),
        ("fit-in/331x1000", port, 331, 497), ("fit-in/1300x700", land, 1_050, 700),
        ("full-fit-in/300x300", odd, 450, 300),
        ("full-fit-in/1000x0", land, 1_001, 667), ("full-fit-in/2000x1000", land, 2_000, 1_333),
        ("adaptive-fit-in/200x300", land, 300, 200), ("adaptive-full-fit-in/200x300", land, 300, 200),
        ("adaptive-full-fit-in/400x300", port, 300, 450), ("adaptive-fit-in/300x", port, 300, 450),
        ("100x50:500x350", land, 400, 300), ("27x0:472x334/760x506", odd, 760, 506), ("stretch/7x9", odd, 7, 9),
        ("1x", PixelSize(width: 10_000, height: 1), 1, 1), ("fit-in/1x1", PixelSize(width: 10_000, height: 1), 1, 1),
    ])
    func `sizes are thumbor's`(path: String, source: PixelSize, width: Int, height: Int) throws {
        #expect(try layout(path, source).size == PixelSize(width: width, height: height))
    }

    @Test func `ratios equal to two decimals are stretched, others are cropped in the center`() throws {
        #expect(try layout("300x226", Self.quad).part.isWhole)
        let tall = try layout("100x300", Self.quad)
        #expect(tall.part == ImageRegion(x: 150, y: 0, size: PixelSize(width: 100, height: 300), of: Self.quad))
        #expect(tall.size == PixelSize(width: 100, height: 300))
        let wide = try layout("400x100", Self.quad)
        #expect(wide.part == ImageRegion(x: 0, y: 100, size: PixelSize(width: 400, height: 100), of: Self.quad))
    }

    @Test func `an alignment affects the crop of its own side only`() throws {
        #expect(try layout("100x300/right", Self.quad).part.x == 300)
        #expect(try layout("100x300/left", Self.quad).part.x == 0)
        #expect(try layout("100x300/top", Self.quad).part.x == 150)
        #expect(try layout("400x100/left/bottom", Self.quad).part.y == 200)
    }

    @Test func `focal regions override alignments, are weighted by area and use the source's coordinates`() throws {
        func focus(_ texts: String...) throws -> [ThumborGeometry.Focus] {
            let filters = texts.map { "focal(\($0))" }.joined(separator: ":")
            var reader = ThumborFilterReader(ThumborConfiguration())
            try reader.read(ThumborTarget(sent: "filters:\(filters)/a").filters)
            return reader.options.geometry.focuses
        }
        let right = try focus("350x100:400x200")
        #expect(try layout("100x300/left", Self.quad) { $0.focuses = right }.part.x == 300)
        let both = try focus("0x0:100x100", "300x200:400x300")
        #expect(try layout("100x300", Self.quad) { $0.focuses = both }.part.x == 150)
        let point = try focus("0.8x0.28")
        #expect(try layout("100x300", Self.quad) { $0.focuses = point }.part.x == 270)
        #expect(try layout("300x0:400x300/50x300", Self.quad) { $0.focuses = right }.part.x == 350)
        let outside = try focus("0x0:50x50")
        #expect(try layout("300x0:400x300/50x300", Self.quad) { $0.focuses = outside }.part.x == 325)
        #expect(try focus("abc", "1x2:0x3", "-1x2").isEmpty)
    }

    @Test func `crops are clipped, and ignored if nothing remains`() throws {
        let size = try layout("300x200:2000x2000", Self.quad).size
        #expect(size == PixelSize(width: 100, height: 100))
        for path in ["0x0:0x0", "500x400:600x500", "100x100:0x0", "5x5:5x9"] {
            #expect(try layout(path, Self.quad).part.isWhole, "\(path)")
        }
        let half = try layout("0.5x0:1x1", Self.quad).part
        #expect(half == ImageRegion(x: 200, y: 0, size: PixelSize(width: 200, height: 300), of: Self.quad))
        #expect(try layout("0x0:1x1", Self.quad).size == PixelSize(width: 1, height: 1))
    }

    @Test func `no_upscale limits each side of the box to the source's`() throws {
        func size(_ path: String) throws -> PixelSize {
            try layout(path, Self.odd) { $0.isEnlargingForbidden = true }.size
        }
        #expect(try size("800x200") == PixelSize(width: 641, height: 200))
        #expect(try size("1300x") == Self.odd)
        #expect(try size("0x0:100x100/300x300") == PixelSize(width: 300, height: 300))
    }

    @Test func `smart resamples the whole image, so that the most salient part can be cropped`() throws {
        let layout = try layout("200x400/smart", PixelSize(width: 600, height: 400))
        #expect(layout.part.isWhole && layout.size == PixelSize(width: 600, height: 400))
        #expect(layout.interest == PixelSize(width: 200, height: 400))
        #expect(try self.layout("300x200/smart", PixelSize(width: 600, height: 400)).interest == nil)
    }

    @Test func `no geometry overflows or makes an empty image`() throws {
        let sides = ["", "0", "1", "65535", "1000000", "orig"]
        let sizes = [1, 7, 10_000_000]
        for fit in ["", "fit-in/", "full-fit-in/", "adaptive-full-fit-in/", "stretch/"] {
            for (width, height) in sides.flatMap({ side in sides.map { (side, $0) } }) {
                for size in sizes.flatMap({ side in sizes.map { PixelSize(width: side, height: $0) } }) {
                    let layout = try layout("\(fit)\(width)x\(height)/smart", size)
                    #expect(layout.size.width > 0 && layout.size.height > 0, "\(fit)\(width)x\(height) of \(size)")
                    let part = layout.part
                    #expect(part.x >= 0 && part.x + part.size.width <= size.width)
                    #expect(part.y >= 0 && part.y + part.size.height <= size.height)
                }
            }
        }
    }

    @Test(arguments: [
        ("10", 100, 30, 10), ("-10", 100, 30, 60), ("-0", 100, 30, 70), ("20p", 300, 30, 60), ("-10p", 300, 30, 240),
        ("center", 100, 31, 34), ("0.5", 300, 30, 150), ("-0.25", 300, 30, 195), ("right", 100, 30, 70),
        ("left-20", 100, 30, -20),
        ("bottom", 100, 30, 70), ("top", 100, 30, 0), ("r-5", 100, 30, 75),
    ])
    func `positions of marks match both services`(text: String, side: Int, own: Int, start: Int) throws {
        #expect(try #require(ThumborFilterReader.position(text)).start(in: side, markSide: own) == start)
    }

    @Test(arguments: ["", "-", "p", "1.5", "x", "left-", "10q", "--1", "0.1p"])
    func `other text is not a position`(text: String) { #expect(ThumborFilterReader.position(text) == nil) }

    @Test func `whole marks are repeated at even distances, six by six if there would be more than a hundred`() throws {
        var mark = ThumborMark(subject: .source(0))
        mark.x.anchor = .repeated
        mark.y.anchor = .repeated
        let few = mark.rows(of: PixelSize(width: 80, height: 40), on: PixelSize(width: 300, height: 200))
        #expect(few.across == CopyPositions(start: 0, count: 3, pitch: 110))
        #expect(few.down == CopyPositions(start: 0, count: 5, pitch: 40))
        let many = mark.rows(of: PixelSize(width: 10, height: 10), on: PixelSize(width: 300, height: 200))
        #expect(many.across == CopyPositions(start: 0, count: 6, pitch: 58))
        #expect(many.down == CopyPositions(start: 0, count: 6, pitch: 38))
        mark.y = try #require(ThumborFilterReader.position("bottom"))
        let tiled = mark.rows(of: PixelSize(width: 80, height: 40), on: PixelSize(width: 300, height: 200))
        #expect(tiled.across == CopyPositions(start: 0, count: 4, pitch: 80) && tiled.down.start == 160)
    }

    @Test(
        arguments: [
            (50, nil, 150, 75), (nil, 50, 200, 100), (50, 50, 150, 75), (30, 20, 80, 40), (nil, nil, 80, 40),
        ] as [(Int?, Int?, Int, Int)])
    func `shares of the image's sides limit a mark, which keeps its ratio`(
        across: Int?, down: Int?, width: Int, height: Int
    ) {
        var mark = ThumborMark(subject: .source(0))
        (mark.widthShare, mark.heightShare) = (across, down)
        let stamp = mark.stamp(of: PixelSize(width: 80, height: 40), on: PixelSize(width: 300, height: 200))
        #expect(stamp.scaledSize == PixelSize(width: width, height: height) && stamp.isWhole)
    }

    @Test func `a layer is cropped and resized by its own path`() throws {
        var mark = ThumborMark(subject: .source(0))
        mark.layer = try ThumborTarget(sent: "60x60/a", isLayer: true).geometry
        let stamp = mark.stamp(of: Self.quad, on: PixelSize(width: 300, height: 200))
        #expect(stamp.size == PixelSize(width: 60, height: 60) && stamp.scaledSize == PixelSize(width: 80, height: 60))
        #expect(stamp.x == 10 && stamp.y == 0)
        mark.layer = try ThumborTarget(sent: "fxf-20/a", isLayer: true).geometry
        #expect(mark.size(ofColorOn: PixelSize(width: 300, height: 200)) == PixelSize(width: 300, height: 180))
        mark.layer = try ThumborTarget(sent: "90x/a", isLayer: true).geometry
        #expect(mark.size(ofColorOn: PixelSize(width: 300, height: 200)) == PixelSize(width: 90, height: 90))
    }
}
