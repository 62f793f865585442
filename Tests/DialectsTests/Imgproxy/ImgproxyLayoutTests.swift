import Recipes
import Testing

@testable import Dialects

/// Sizes by imgproxy's rules, without images.
struct ImgproxyLayoutTests {
    private func layout(
        _ options: String, _ source: PixelSize = PixelSize(400, 300), isDrawing: Bool = false,
        prescaling: ImgproxyLayout.Prescaling = .none
    ) throws -> ImgproxyLayout {
        ImgproxyLayout(
            try ImgproxyFixture.options(options) { $0.allowsSecurityOptions = true }, source: source,
            isDrawing: isDrawing, prescaling: prescaling)
    }

    /// The size of the result without canvas and padding.
    private func size(
        _ options: String, _ source: PixelSize = PixelSize(400, 300), isDrawing: Bool = false
    ) throws -> PixelSize {
        let layout = try layout(options, source, isDrawing: isDrawing)
        return layout.keptSize.orLess(than: layout.resizedSize)
    }

    @Test(arguments: [
        ("rt:fit/w:200/h:200", 200, 150), ("rt:fill/w:200/h:200", 200, 200), ("w:300", 300, 225), ("h:150", 200, 150),
        ("rt:force/w:200", 200, 300), ("rt:force/w:100/h:100", 100, 100), ("", 400, 300), ("w:0/h:0/rt:fill", 400, 300),
        // Larger than the source: cropped to its sides, scaled, or kept in proportion.
        ("rs:fill:600:200", 400, 200), ("rs:fill:800:800", 400, 300), ("rs:fill:200:500", 200, 300),
        ("rs:force:800:100", 400, 50), ("rs:fill-down:800:300", 400, 150), ("rs:fill-down:800", 400, 300),
        ("rs:fill-down:100:600", 50, 300), ("rs:fit:800:800", 400, 300),
        // A square counts as landscape.
        ("rs:auto:200:200", 200, 200), ("rs:auto:100:300", 100, 75), ("rs:auto:300:100", 300, 100),
        // Minimum sides enlarge the image before it is cropped to the box.
        ("w:100/mw:200", 100, 150), ("w:100/mw:800", 100, 600), ("mw:500", 500, 375), ("mh:200/w:100", 100, 200),
        ("rs:fit:50:50/mw:120/mh:120", 50, 50), ("w:300/mw:100", 300, 225),
        // Zoom and device pixel ratio.
        ("z:0.25", 100, 75), ("w:100/h:75/z:2:1", 200, 75), ("w:300/z:3/el:1", 900, 675),
        ("w:300/dpr:3/el:1", 900, 675),
        ("dpr:2", 400, 300), ("rs:fill:300:300/dpr:2", 300, 300), ("w:800/dpr:0.5", 400, 300),
        ("w:100/dpr:2", 200, 150),
        // Halves are rounded up.
        ("w:202", 202, 152), ("w:6", 6, 5), ("w:1", 1, 1),
        // The crop comes first.
        ("c:100:100/w:300", 100, 100), ("c:100:100/w:300/el:1", 300, 300), ("c:0.4:0.9/rs:fit:200:200", 119, 200),
        ("c:1000:100", 400, 100),
    ])
    func `sizes of 400×300`(options: String, width: Int, height: Int) throws {
        #expect(try size(options) == PixelSize(width, height), "\(options)")
    }

    @Test func `a drawing is enlarged without an option`() throws {
        #expect(try size("w:800", isDrawing: true) == PixelSize(800, 600))
        #expect(try size("w:800") == PixelSize(400, 300))
    }

    @Test func `crop pixels are cut, fractions rounded`() throws {
        #expect(try layout("c:100.9:50.5").cropSize == PixelSize(100, 50))
        #expect(try layout("c:1.5:0.5", PixelSize(641, 427)).cropSize == PixelSize(1, 214))
        #expect(try layout("c:0.01:0.5", PixelSize(10, 8)).cropSize == PixelSize(1, 4))
        #expect(try layout("c:0:100").cropSize == PixelSize(0, 100))
    }

    @Test func `padding is rounded to even, and uses the ratio that the source allows`() throws {
        func left(_ options: String) throws -> Int {
            try layout(options).margins.left
        }
        #expect(try left("w:100/pd:5/dpr:1.5") == 8 && left("w:100/pd:3/dpr:1.5") == 4)
        #expect(try left("w:400/pd:10/dpr:3") == 10 && left("w:200/pd:10/dpr:3") == 20)
    }

    @Test func `the box of a canvas follows the same ratio`() throws {
        #expect(try layout("rs:fit:300:300/ex:1/dpr:2").boxSize == PixelSize(400, 400))
        #expect(try layout("rs:fit:300:300").boxSize == PixelSize(300, 300))
    }

    @Test func `a proportional canvas is no larger than needed`() throws {
        #expect(try layout("rs:fit:1000:1000/exar:1").proportionalSize == PixelSize(400, 400))
        #expect(try layout("rs:fit:900:300/exar:1").proportionalSize == PixelSize(900, 300))
        #expect(try layout("rs:fill-down:800:800/exar:1").proportionalSize == PixelSize(0, 0))
        #expect(try layout("w:300/exar:1").proportionalSize == PixelSize(0, 0))
    }

    @Test func `the longest side of the result bounds everything`() throws {
        #expect(try size("mrd:250/w:400") == PixelSize(250, 188))
        #expect(try size("mrd:150/rs:fill:300:300") == PixelSize(150, 150))
        #expect(try size("mrd:100/w:50") == PixelSize(50, 38))
        let padded = try layout("mrd:200/w:300/pd:50")
        #expect(padded.resizedSize == PixelSize(150, 113) && padded.ratio == 0.5)
    }

    @Test func `decoders that reduce images round before the scaling`() throws {
        let odd = PixelSize(641, 427)
        #expect(try layout("w:100", odd, prescaling: .powers).resizedSize == PixelSize(100, 67))
        #expect(try layout("c:101:101/w:20", odd, prescaling: .powers).resizedSize == PixelSize(20, 20))
        #expect(try layout("c:101:301/h:60", odd, prescaling: .powers).resizedSize == PixelSize(20, 60))
        #expect(try layout("w:33", odd, prescaling: .anyFactor).resizedSize == PixelSize(33, 22))
        #expect(try layout("h:25", PixelSize(1_200, 800), prescaling: .powers).resizedSize == PixelSize(38, 25))
    }

    @Test func `no number makes the arithmetic trap`() throws {
        let huge = ["1000000000", "1"]
        for width in huge {
            for factor in ["1e9", "1e-9", "1"] {
                for rest in ["", "/el:1", "/rt:fill-down/el:0", "/exar:1/ex:1/rt:fill", "/mrd:1", "/mw:1000000000"] {
                    let options = "w:\(width)/h:7/z:\(factor):1e9/dpr:\(factor)/pd:1000000000/c:1e9:1e-9\(rest)"
                    for prescaling in [ImgproxyLayout.Prescaling.none, .powers, .anyFactor] {
                        let layout = try layout(options, PixelSize(65_500, 1), prescaling: prescaling)
                        #expect(layout.resizedSize.width > 0 && layout.resizedSize.height > 0, "\(options)")
                    }
                }
            }
        }
    }
}

/// Gravity by imgproxy's rules.
struct ImgproxyGravityTests {
    private func place(
        _ gravity: ImgproxyGravity, _ inner: PixelSize, _ outer: PixelSize = PixelSize(400, 300), ratio: Double = 1,
        mayOverhang: Bool = false
    ) -> [Int] {
        let corner = gravity.corner(of: inner, on: outer, ratio: ratio, mayOverhang: mayOverhang)
        return [corner.x, corner.y]
    }

    @Test func `sides and corners`() {
        let inner = PixelSize(100, 100)
        for (kind, x, y) in [
            (ImgproxyGravity.Kind.northWest, 0, 0), (.north, 150, 0), (.northEast, 300, 0), (.west, 0, 100),
            (.center, 150, 100), (.east, 300, 100), (.southWest, 0, 200), (.south, 150, 200), (.southEast, 300, 200),
        ] {
            #expect(place(ImgproxyGravity(kind: kind), inner) == [x, y], "\(kind)")
        }
    }

    @Test func `the middle of a remainder is rounded as by libvips`() {
        // (rest + 1) / 2; halves are rounded to even.
        for (rest, start) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2), (5, 3), (6, 4), (7, 4)] {
            #expect(place(ImgproxyGravity(), PixelSize(100, 100), PixelSize(100 + rest, 100))[0] == start, "\(rest)")
        }
    }

    @Test func `distances are pixels from 1 on, fractions below, and point inward`() {
        let inner = PixelSize(100, 100)
        #expect(place(ImgproxyGravity(kind: .southEast, x: 10, y: 0.1), inner) == [290, 170])
        #expect(place(ImgproxyGravity(kind: .west, x: 1), inner) == [1, 100])
        #expect(place(ImgproxyGravity(kind: .west, x: 40), inner, ratio: 2) == [80, 100])
        #expect(place(ImgproxyGravity(kind: .west, x: -40), inner) == [0, 100])
        #expect(place(ImgproxyGravity(kind: .west, x: -40), inner, mayOverhang: true) == [-40, 100])
        #expect(place(ImgproxyGravity(kind: .west, x: -4_000), inner, mayOverhang: true) == [-99, 100])
    }

    @Test func `a point is the center of the part within the edges`() {
        #expect(place(ImgproxyGravity(kind: .focus, x: 0.5, y: 0.2), PixelSize(100, 100)) == [150, 10])
        #expect(place(ImgproxyGravity(kind: .focus, x: 1, y: 0), PixelSize(100, 100)) == [300, 0])
    }

    @Test func `a position before a rotation is mapped through it`() {
        let outer = PixelSize(38, 30)
        let turns: [(Int, Bool, Bool)] = (0..<4).flatMap { quarters in
            [(quarters, false, false), (quarters, true, false), (quarters, false, true), (quarters, true, true)]
        }
        for (quarters, mirrorsX, mirrorsY) in turns {
            var turn = QuarterTurn(quarters: quarters)
            if mirrorsX { turn = turn.then(.mirrorX) }
            if mirrorsY { turn = turn.then(.mirrorY) }
            for kind in [
                ImgproxyGravity.Kind.center, .north, .east, .south, .west, .northWest, .northEast, .southWest,
                .southEast, .focus,
            ] {
                let gravity =
                    kind == .focus
                    ? ImgproxyGravity(kind: kind, x: 0.75, y: 0.4) : ImgproxyGravity(kind: kind, x: 4, y: 2)
                // Even sizes and remainders divisible by four, so that no half is rounded.
                let inner = PixelSize(10, 10)
                let turned = turn.turned(outer)
                let after = gravity.corner(of: inner, on: turned, ratio: 1)
                let before = gravity.before(quarters: quarters, mirroringX: mirrorsX, mirroringY: mirrorsY)
                    .corner(of: inner, on: outer, ratio: 1)
                let led = turn.turned(ImageRegion(x: before.x, y: before.y, size: inner, of: outer))
                #expect(abs(led.x - after.x) <= 1 && abs(led.y - after.y) <= 1, "\(kind) \(turn)")
            }
        }
    }
}
