import Testing

@testable import Recipes

/// Positions of watermarks on results.
struct OverlayLayoutTests {
    private static let result = PixelSize(width: 100, height: 60)
    private static let own = PixelSize(width: 21, height: 11)

    private static func layout(
        _ position: Gravity = .topLeft, x: Int = 0, y: Int = 0, ratio: Int = 1_000, scale: Int? = nil,
        isTiled: Bool = false, own: PixelSize = own
    ) -> OverlayLayout? {
        var options = WatermarkOptions()
        (options.position, options.x, options.y, options.scale, options.isTiled) = (position, x, y, scale, isTiled)
        return OverlayLayout(options, ratio: ratio, sourceSize: own, result: result)
    }

    @Test(
        arguments: [
            (.topLeft, 0, 0), (.top, 39, 0), (.topRight, 79, 0), (.left, 0, 24), (.center, 39, 24), (.right, 79, 24),
            (.bottomLeft, 0, 49), (.bottom, 39, 49), (.bottomRight, 79, 49),
        ] as [(Gravity, Int, Int)])
    func `the nine positions`(position: Gravity, x: Int, y: Int) throws {
        let layout = try #require(Self.layout(position))
        #expect((layout.x, layout.y) == (x, y))
        #expect(layout.coveredSize == Self.own && layout.scaledSize == Self.own)
        #expect((layout.firstColumn, layout.firstRow) == (0, 0))
    }

    @Test(
        arguments: [
            (.topLeft, 3, 4), (.top, 42, 4), (.topRight, 76, 4), (.left, 3, 28), (.center, 42, 28), (.right, 76, 28),
            (.bottomLeft, 3, 45), (.bottom, 42, 45), (.bottomRight, 76, 45),
        ] as [(Gravity, Int, Int)])
    func `distances point inward from edges, and right and down from the center`(
        position: Gravity, x: Int, y: Int
    ) throws {
        let layout = try #require(Self.layout(position, x: 3, y: 4))
        #expect((layout.x, layout.y) == (x, y))
        // At twice the density, half the distances are the same pixels, but the watermark is twice as large.
        let dense = try #require(
            Self.layout(position, x: 3, y: 4, ratio: 500, own: PixelSize(width: 42, height: 22)))
        #expect(dense.scaledSize == Self.own)
        let slack = (dense.x - x, dense.y - y)
        #expect(abs(slack.0) <= 1 && abs(slack.1) == 2 || abs(slack.0) == 1 && abs(slack.1) <= 2)
    }

    @Test func `the part beyond the edge is cropped`() throws {
        let left = try #require(Self.layout(.topLeft, x: -5, y: -2))
        #expect((left.x, left.y, left.firstColumn, left.firstRow) == (0, 0, 5, 2))
        #expect(left.coveredSize == PixelSize(width: 16, height: 9))
        let right = try #require(Self.layout(.bottomRight, x: -5, y: -2))
        #expect((right.x, right.y, right.firstColumn, right.firstRow) == (84, 51, 0, 0))
        #expect(right.coveredSize == PixelSize(width: 16, height: 9))
        let large = try #require(Self.layout(.center, own: PixelSize(width: 301, height: 200)))
        #expect((large.x, large.y, large.firstColumn, large.firstRow) == (0, 0, 100, 70))
        #expect(large.coveredSize == Self.result)
    }

    @Test(arguments: [(100, 0), (0, 60), (-21, 0), (0, -11)])
    func `outside the result nothing is drawn`(x: Int, y: Int) {
        #expect(Self.layout(.topLeft, x: x, y: y) == nil)
    }

    @Test func `its own size is multiplied by the density`() throws {
        #expect(try #require(Self.layout(ratio: 2_000)).scaledSize == PixelSize(width: 42, height: 22))
        #expect(try #require(Self.layout(ratio: 500)).scaledSize == PixelSize(width: 11, height: 6))
    }

    @Test func `a scale is a share of the result's width, keeps the ratio and fits inside`() throws {
        #expect(try #require(Self.layout(scale: 5_000)).scaledSize == PixelSize(width: 50, height: 26))
        #expect(try #require(Self.layout(scale: 10_000)).scaledSize == PixelSize(width: 100, height: 52))
        // The result's width already includes the density.
        #expect(try #require(Self.layout(ratio: 2_000, scale: 5_000)).scaledSize == PixelSize(width: 50, height: 26))
        let tall = PixelSize(width: 10, height: 40)
        #expect(try #require(Self.layout(scale: 5_000, own: tall)).scaledSize == PixelSize(width: 15, height: 60))
        #expect(try #require(Self.layout(scale: 100, own: tall)).scaledSize == PixelSize(width: 1, height: 4))
        let narrow = PixelSize(width: 1, height: 4_000)
        #expect(try #require(Self.layout(scale: 5_000, own: narrow)).scaledSize == PixelSize(width: 1, height: 60))
    }

    @Test func `tiles begin at the top left and the distances, for any position`() throws {
        let tiled = try #require(Self.layout(.bottomRight, x: 7, y: 5, isTiled: true))
        #expect((tiled.x, tiled.y, tiled.firstColumn, tiled.firstRow) == (7, 5, 0, 0))
        #expect(tiled.coveredSize == PixelSize(width: 93, height: 55))
        let earlier = try #require(Self.layout(x: -50, y: -11, isTiled: true))
        #expect((earlier.x, earlier.y, earlier.firstColumn, earlier.firstRow) == (0, 0, 8, 0))
        #expect(earlier.coveredSize == Self.result)
        #expect(Self.layout(x: 100, isTiled: true) == nil)
    }
}
