import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct GeometryOperationTests {
    private static let red = [200, 40, 20]
    private static let green = [30, 180, 60]
    private static let blue = [10, 60, 220]
    private static let gray = [128, 128, 128]

    /// The colors in the corners: top left, top right, bottom left, bottom right.
    private static func corners(_ image: DecodedImage) -> [[Int]] {
        let (right, bottom) = (image.size.width - 1, image.size.height - 1)
        return [(0, 0), (right, 0), (0, bottom), (right, bottom)].map { image.values($0.0, $0.1) }
    }

    private static func isClose(_ one: [[Int]], _ other: [[Int]], tolerance: Int) -> Bool {
        zip(one, other).allSatisfy { zip($0, $1).allSatisfy { abs($0 - $1) <= tolerance } }
    }

    /// The four corners after flip and rotate.
    private static let turns: [(flip: ImageOperations.Flip?, rotation: Int, corners: [[Int]])] = [
        (nil, 90, [blue, red, gray, green]), (nil, 180, [gray, blue, green, red]),
        (nil, 270, [green, gray, red, blue]), (.horizontal, 0, [green, red, gray, blue]),
        (.vertical, 0, [blue, gray, red, green]), (.both, 0, [gray, blue, green, red]),
        // Flipped, then rotated.
        (.horizontal, 90, [gray, green, blue, red]), (.vertical, 90, [red, blue, green, gray]),
        (.horizontal, 180, [blue, gray, red, green]), (.horizontal, 270, [red, blue, green, gray]),
        (.both, 90, [green, gray, red, blue]), (.both, 180, [red, green, blue, gray]),
    ]

    @Test func `flip precedes rotate, and both precede the resize`() throws {
        let image = OperationFixture.quarters(64, 48)
        for turn in Self.turns {
            let result = try OperationFixture.render(image) { ($0.flip, $0.rotation) = (turn.flip, turn.rotation) }
            #expect(Self.corners(result) == turn.corners, "\(turn)")
            let isTurned = turn.rotation % 180 == 90
            #expect(result.size == PixelSize(width: isTurned ? 48 : 64, height: isTurned ? 64 : 48))
            let small = try OperationFixture.render(image, options(24, nil)) {
                ($0.flip, $0.rotation) = (turn.flip, turn.rotation)
            }
            #expect(small.size == PixelSize(width: 24, height: isTurned ? 32 : 18))
            #expect(Self.isClose(Self.corners(small), turn.corners, tolerance: 2), "\(turn)")
        }
    }

    @Test(
        arguments: [ImageFormat.jpeg, .webp, .png],
        [PixelSize(width: 34, height: 33), PixelSize(width: 33, height: 51)])
    func `planes are rotated like pixels`(format: ImageFormat, size: PixelSize) throws {
        for source in [PixelSize(width: 203, height: 155), PixelSize(width: 640, height: 480)] {
            let file = SharedBytes(ImageFixture.file(.photo(source), as: .jpeg, quality: 90))
            for turn in Self.turns {
                var options = options(size.width, size.height, .cover) { $0.quality = 95 }
                options.gravity = .topRight
                (options.operations.flip, options.operations.rotation) = (turn.flip, turn.rotation)
                let comparison = try LaneComparison(file, options, format)
                #expect(comparison.noiseDistance > 30, "\(turn) \(comparison.noiseDistance)")
            }
        }
    }

    @Test(arguments: [ImageFormat.png, .jpeg])
    func `a crop keeps exactly its pixels`(source: ImageFormat) throws {
        let image = OperationFixture.quarters(640, 480)
        let tolerance = source == .png ? 0 : 4
        let quarters: [(Int, Int, [Int])] = [
            (0, 0, Self.red), (320, 0, Self.green), (0, 240, Self.blue), (320, 240, Self.gray),
        ]
        for width in [nil, 100, 33, 20] {
            for (x, y, color) in quarters {
                let result = try OperationFixture.render(image, options(width, nil), source: source) {
                    $0.crop = .pixels(x: x, y: y, width: 320, height: 240)
                }
                #expect(result.size.width == width ?? 320)
                #expect(Self.isClose(Self.corners(result), [color, color, color, color], tolerance: tolerance))
                let shares = try OperationFixture.render(image, options(width, nil), source: source) {
                    $0.crop = .fractions(x: x * 10_000 / 640, y: y * 10_000 / 480, width: 5_000, height: 5_000)
                }
                #expect(shares.pixels.array == result.pixels.array)
            }
        }
    }

    @Test func `a crop within samples applies to planes, too`() throws {
        let file = SharedBytes(ImageFixture.file(.photo(PixelSize(width: 601, height: 459)), as: .jpeg, quality: 92))
        for (x, y, width, height) in [(13, 7, 401, 299), (101, 55, 257, 333), (301, 1, 300, 300)] {
            for side in [40, 90, 250] {
                for format in [ImageFormat.jpeg, .png] {
                    var options = options(side, nil) { $0.quality = 95 }
                    options.operations.crop = .pixels(x: x, y: y, width: width, height: height)
                    let comparison = try LaneComparison(file, options, format)
                    #expect(comparison.noiseDistance > 30, "\(x) \(side) \(format) \(comparison.noiseDistance)")
                }
            }
        }
    }

    @Test func `a crop is clipped, and one outside is an error`() throws {
        func size(_ crop: ImageOperations.Crop) throws -> PixelSize {
            try plan(100, 60, options(nil, nil) { $0.operations.crop = crop }).outputSize
        }
        #expect(try size(.pixels(x: 90, y: 50, width: 40, height: 40)) == PixelSize(width: 10, height: 10))
        #expect(try size(.pixels(x: 0, y: 0, width: 999_999_999, height: 1)) == PixelSize(width: 100, height: 1))
        #expect(try size(.fractions(x: 9_940, y: 0, width: 1, height: 10_000)) == PixelSize(width: 1, height: 60))
        // 0.005 of 100 is half a pixel, which is rounded up.
        #expect(try size(.fractions(x: 50, y: 0, width: 10_000, height: 10_000)) == PixelSize(width: 99, height: 60))
        #expect(try size(.fractions(x: 49, y: 0, width: 10_000, height: 10_000)) == PixelSize(width: 100, height: 60))
        for crop in [
            .pixels(x: 100, y: 0, width: 1, height: 1), .pixels(x: 0, y: 60, width: 1, height: 1),
            .fractions(x: 10_000, y: 0, width: 5_000, height: 5_000),
        ] as [ImageOperations.Crop] {
            #expect(throws: ImagingError.cropOutside(PixelSize(width: 100, height: 60))) { try size(crop) }
        }
    }

    @Test func `the level follows the part, before and after a rotation`() throws {
        func level(_ change: (inout ImageOperations) -> Void) throws -> Int {
            try plan(4_800, 3_200, options(300, nil) { change(&$0.operations) }).decode.level
        }
        #expect(try level { _ in } == 8)
        #expect(try level { $0.crop = .pixels(x: 0, y: 0, width: 2_400, height: 1_000) } == 4)
        #expect(try level { $0.crop = .fractions(x: 0, y: 0, width: 1_250, height: 1_250) } == 1)
        #expect(try level { $0.rotation = 90 } == 4)
        #expect(try level { ($0.rotation, $0[.blur], $0.pad.top) = (45, 500, 100) } == 8)
        #expect(try level { $0.trim = .init(tolerance: 10) } == 1)
    }

    @Test func `a crop is of the image before flip and rotate`() throws {
        let image = OperationFixture.quarters(64, 48)
        let result = try OperationFixture.render(image) {
            $0.crop = .pixels(x: 16, y: 0, width: 32, height: 24)
            ($0.flip, $0.rotation) = (.horizontal, 90)
        }
        #expect(result.size == PixelSize(width: 24, height: 32))
        #expect(Self.corners(result) == [Self.green, Self.green, Self.red, Self.red])
    }

    @Test func `other angles enlarge the box, with transparent corners`() throws {
        let image = OperationFixture.quarters(64, 48)
        let result = try OperationFixture.render(image, options(32, nil)) { $0.rotation = 45 }
        // 32 × 24: (32 + 24) ÷ √2 = 39.6.
        #expect(result.size == PixelSize(width: 40, height: 40))
        #expect(result.values(0, 0)[3] == 0 && result.values(39, 39)[3] == 0)
        // Clockwise: the red corner is at the top, the green one on the right.
        #expect(result.isClose(x: 14, y: 12, to: Self.red + [255], tolerance: 3), "\(result.values(14, 12))")
        #expect(result.isClose(x: 30, y: 20, to: Self.green + [255], tolerance: 3), "\(result.values(30, 20))")
        #expect(result.isClose(x: 12, y: 22, to: Self.blue + [255], tolerance: 3), "\(result.values(12, 22))")
        #expect(result.isClose(x: 24, y: 30, to: Self.gray + [255], tolerance: 3), "\(result.values(24, 30))")
    }

    @Test func `corners are the background, or white without alpha`() throws {
        let image = OperationFixture.quarters(64, 48)
        let white = try OperationFixture.render(image, as: .jpeg) { $0.rotation = 30 }
        #expect(white.isClose(x: 0, y: 0, to: [255, 255, 255], tolerance: 6))
        var options = RenderingOptions()
        options.background = Color(red: 10, green: 200, blue: 30)
        let green = try OperationFixture.render(image, options) { $0.rotation = 30 }
        #expect(green.values(0, 0) == [10, 200, 30])
        #expect(green.bands == 3)
    }

    @Test func `a rotated flat color has no seams`() throws {
        let result = try OperationFixture.render(OperationFixture.plain([200, 100, 50], width: 60, height: 40)) {
            $0.rotation = 17
        }
        for y in 0..<result.size.height {
            for x in 0..<result.size.width {
                let pixel = result.values(x, y)
                #expect(pixel[3] == 0 || abs(pixel[0] - 200) <= 2 && abs(pixel[1] - 100) <= 2, "\(x),\(y) \(pixel)")
            }
        }
        #expect(result.values(result.size.width / 2, result.size.height / 2) == [200, 100, 50, 255])
    }
}
