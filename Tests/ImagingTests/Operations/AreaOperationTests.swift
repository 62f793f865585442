import Glibc
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Blur, sharpen, pixelate, pad, radius and mask.
@Suite(.timeLimit(.minutes(1)))
struct AreaOperationTests {
    /// A black and a white half.
    private static func edge(_ width: Int = 120, _ height: Int = 20) -> SampleImage {
        SampleImage(PixelSize(width: width, height: height), bands: 3) { x, _ in
            x < width / 2 ? [0, 0, 0] : [255, 255, 255]
        }
    }

    @Test(arguments: [30, 100, 200, 500, 799, 800, 1_200])
    func `a blurred edge is the integral of the Gaussian`(hundredths: Int) throws {
        let sigma = Double(hundredths) / 100
        let result = try OperationFixture.render(Self.edge()) { $0[.blur] = hundredths }
        for x in stride(from: 30, to: 90, by: 3) {
            // The mean of the Gaussian weights of whole pixels to the left of this one's center.
            let weights = (-60...60).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
            let sum = weights.reduce(0, +)
            let light = (-60...60).reduce(0.0) { $0 + (x + $1 >= 60 ? weights[$1 + 60] : 0) } / sum
            let error = abs(Double(result.values(x, 10)[0]) - 255 * light)
            #expect(error <= (hundredths < 800 ? 1.5 : 3), "\(x): \(result.values(x, 10)[0]) for \(255 * light)")
        }
    }

    @Test(arguments: [500, 799, 800, 2_000, 6_000])
    func `edges continue with their outermost pixels`(hundredths: Int) throws {
        let sigma = Double(hundredths) / 100
        for isAcross in [true, false] {
            let size = isAcross ? PixelSize(width: 200, height: 20) : PixelSize(width: 20, height: 200)
            let image = SampleImage(size, bands: 3) { x, y in
                (isAcross ? x : y) < 5 ? [200, 200, 200] : [0, 0, 0]
            }
            let result = try OperationFixture.render(image) { $0[.blur] = hundredths }
            for place in [0, 1, 4, 10, 40, 199] {
                let expected = 100 * erfc((Double(place) - 4.5) / (sigma * 2.0.squareRoot()))
                let value = isAcross ? result.values(place, 10)[0] : result.values(10, place)[0]
                #expect(abs(Double(value) - expected) <= 3, "\(place): \(value) for \(expected)")
            }
        }
    }

    @Test(arguments: [1, 2, 5, 15], [800, 3_000, 10_000])
    func `a blur along a short side is the integral of the Gaussian, too`(length: Int, hundredths: Int) throws {
        let sigma = Double(hundredths) / 100
        func share(_ distance: Double) -> Double { erfc(-distance / (sigma * 2.0.squareRoot())) / 2 }
        for isAcross in [true, false] {
            let size = isAcross ? PixelSize(width: length, height: 8) : PixelSize(width: 8, height: length)
            let image = SampleImage(size, bands: 3) { x, y in
                (isAcross ? x : y) < length / 2 ? [20, 250, 200] : [220, 10, 200]
            }
            let result = try OperationFixture.render(image) { $0[.blur] = hundredths }
            for place in 0..<length {
                let dark = length < 2 ? 0 : share(Double(length / 2) - 0.5 - Double(place))
                let value = isAcross ? result.values(place, 5) : result.values(5, place)
                #expect(abs(Double(value[0]) - (220 - 200 * dark)) <= 0.6, "\(place): \(value)")
                #expect(abs(Double(value[1]) - (10 + 240 * dark)) <= 0.6 && value[2] == 200)
            }
        }
    }

    @Test(arguments: [30, 200, 1_000, 10_000])
    func `flat areas are unchanged, to the edges`(hundredths: Int) throws {
        for color in [[200, 100, 50], [7], [200, 100, 50, 130]] as [[UInt8]] {
            let image = OperationFixture.plain(color)
            for result in try [
                OperationFixture.render(image) { $0[.blur] = hundredths },
                OperationFixture.render(image) { $0[.sharpen] = min(1_000, hundredths) },
                OperationFixture.render(image) { $0[.pixelate] = 7 },
            ] {
                for (x, y) in [(0, 0), (39, 29), (20, 15)] {
                    #expect(result.values(x, y).prefix(color.count) == color.map(Int.init)[...])
                }
            }
        }
    }

    @Test func `transparent pixels add no color`() throws {
        let image = SampleImage.halfTransparent(PixelSize(width: 60, height: 20))
        for change in [{ $0[.blur] = 300 }, { $0[.blur] = 900 }, { $0[.pixelate] = 8 }, { $0[.sharpen] = 200 }]
            as [(inout ImageOperations) -> Void]
        {
            let result = try OperationFixture.render(image, change: change)
            for x in 0..<60 where result.values(x, 10)[3] > 0 {
                #expect(Array(result.values(x, 10).prefix(3)) == [0, 255, 0], "\(x)")
            }
        }
        let blurred = try OperationFixture.render(image) { $0[.blur] = 300 }
        #expect(abs(blurred.values(29, 10)[3] - 145) < 5)
    }

    @Test func `sharpening adds the difference from the blur`() throws {
        let blurred = try OperationFixture.render(Self.edge()) { $0[.blur] = 200 }
        let image = SampleImage(PixelSize(width: 120, height: 20), bands: 3) { x, _ in
            x < 60 ? [100, 100, 100] : [150, 150, 150]
        }
        let sharpened = try OperationFixture.render(image) { $0[.sharpen] = 200 }
        for x in 40..<80 {
            let own = x < 60 ? 100.0 : 150
            let mean = 100 + 50 * Double(blurred.values(x, 10)[0]) / 255
            #expect(abs(Double(sharpened.values(x, 10)[0]) - (2 * own - mean)) <= 1)
        }
    }

    @Test func `blocks are means, in a grid from the top left`() throws {
        let image = SampleImage(PixelSize(width: 10, height: 5), bands: 3) { x, y in
            [UInt8(10 * x), UInt8(20 * y), (x + y).isMultiple(of: 2) ? 0 : 255]
        }
        let result = try OperationFixture.render(image) { $0[.pixelate] = 4 }
        #expect(result.values(0, 0) == [15, 30, 128] && result.values(3, 3) == [15, 30, 128])
        #expect(result.values(4, 0) == [55, 30, 128])
        // The last blocks are smaller.
        #expect(result.values(8, 0) == [85, 30, 128] && result.values(9, 4) == [85, 80, 128])
    }

    @Test func `lengths are CSS pixels`() throws {
        func keys(_ ratio: Int, _ change: @escaping (inout ImageOperations) -> Void) throws -> [String] {
            let options = options(nil, 150) {
                $0.devicePixelRatio = ratio
                change(&$0.operations)
            }
            return Array(try plan(800, 600, options, format: .png).keyTexts.dropFirst(2).dropLast())
        }
        let blurred = try keys(2_000) { $0[.blur] = 150 }
        #expect(blurred == ["blur 300000"])
        #expect(try keys(1_500) { $0[.sharpen] = 80 } == ["sharpen 120000"])
        #expect(try keys(1_500) { $0[.pixelate] = 3 } == ["pixelate 5"])
        #expect(try keys(500) { $0[.pixelate] = 2 } == [])
        #expect(try keys(1_500) { $0.radius = .pixels(5) } == ["radius 7500 0,0,0,0"])
        #expect(try keys(1_500) { $0.radius = .maximum } == ["radius max 0,0,0,0"])
        #expect(
            try keys(1_500) { $0.pad = .init(top: 1, right: 2, bottom: 3, left: 4) }
                == ["pad 2,3,5,6 0,0,0,0"])
        #expect(try keys(1_000) { $0.mask = .star } == ["mask star 0,0,0,0"])
    }

    @Test func `margins are drawn around the finished box`() throws {
        let image = OperationFixture.plain([200, 100, 50], width: 40, height: 20)
        let margins = ImageOperations.Margins(top: 1, right: 2, bottom: 3, left: 4)
        var options = options(30, 30, .contain)
        options.background = Color(red: 10, green: 20, blue: 30)
        let result = try OperationFixture.render(image, options) {
            $0.pad = margins
            $0[.blur] = 200
        }
        #expect(result.size == PixelSize(width: 36, height: 34))
        #expect(result.values(0, 16) == [10, 20, 30] && result.values(4, 16) == [200, 100, 50])
        #expect(result.values(33, 16) == [200, 100, 50] && result.values(34, 16) == [10, 20, 30])
        let clear = try OperationFixture.render(image) { $0.pad = margins }
        #expect(clear.size == PixelSize(width: 46, height: 24) && clear.values(0, 0) == [0, 0, 0, 0])
        #expect(clear.values(4, 1) == [200, 100, 50, 255])
        let white = try OperationFixture.render(image, as: .jpeg) {
            $0.pad = .init(top: 9, right: 9, bottom: 9, left: 9)
        }
        #expect(white.isClose(x: 0, y: 0, to: [255, 255, 255]))
    }

    @Test func `corners are round`() throws {
        let image = OperationFixture.plain([200, 100, 50])
        let result = try OperationFixture.render(image) { $0.radius = .pixels(10) }
        #expect(result.values(0, 0)[3] == 0 && result.values(10, 0) == [200, 100, 50, 255])
        #expect(result.values(0, 10)[3] == 255 && result.values(39, 29)[3] == 0)
        // The cut area of a corner is (1 − π ÷ 4) r².
        let alpha = (0..<30).reduce(0) { sum, y in sum + (0..<40).reduce(0) { $0 + result.values($1, y)[3] } }
        #expect(abs(Double(alpha) / 255 - (1_200 - (4 - .pi) * 100)) < 0.5)
        for radius in [.maximum, .pixels(16_384)] as [ImageOperations.Radius] {
            let pill = try OperationFixture.render(image) { $0.radius = radius }
            #expect(pill.values(3, 3)[3] == 0 && pill.values(20, 0)[3] == 255 && pill.values(0, 15)[3] > 200)
        }
    }

    @Test func `the part outside the mask is the background, or white without alpha`() throws {
        let image = OperationFixture.plain([200, 100, 50], width: 60, height: 60)
        let white = try OperationFixture.render(image, as: .jpeg) { $0.mask = .circle }
        #expect(white.isClose(x: 2, y: 2, to: [255, 255, 255]) && white.isClose(x: 30, y: 30, to: [200, 100, 50]))
        var options = RenderingOptions()
        options.background = Color(red: 10, green: 20, blue: 30, alpha: 128)
        let veiled = try OperationFixture.render(image, options) { ($0.mask, $0.radius) = (.circle, .maximum) }
        #expect(veiled.isClose(x: 2, y: 2, to: [10, 20, 30, 128], tolerance: 1))
        #expect(veiled.values(30, 30) == [200, 100, 50, 255])
        // The image is blended with the background only once.
        let half = try OperationFixture.render(OperationFixture.plain([9, 9, 9, 0]), options) { $0.mask = .circle }
        #expect(half.isClose(x: 20, y: 15, to: [10, 20, 30, 128], tolerance: 1))
        let gray = try OperationFixture.render(OperationFixture.plain([99]), options) { $0.mask = .circle }
        #expect(gray.isClose(x: 0, y: 0, to: [10, 20, 30, 128], tolerance: 1))
        #expect(gray.values(20, 15) == [99, 99, 99, 255])
    }

    /// Area of each shape relative to the largest centered square.
    private static let shares: [(ImageOperations.Mask, Double)] = [
        (.circle, .pi / 4), (.triangle, 0.3248), (.triangleDown, 0.3248), (.pentagon, 0.5944), (.pentagonDown, 0.5944),
        (.hexagon, 0.6495), (.square, 1), (.star, 0.2806), (.heart, 180 * .pi / 1_024),
    ]

    @Test(arguments: [
        PixelSize(width: 100, height: 100), PixelSize(width: 140, height: 100), PixelSize(width: 100, height: 160),
    ])
    func `masks are the largest centered shapes and keep the canvas`(size: PixelSize) throws {
        let image = SampleImage.plain(size, [200, 100, 50])
        for (mask, share) in Self.shares {
            let result = try OperationFixture.render(image, bands: 4) { $0.mask = mask }
            #expect(result.size == size)
            let alpha = (0..<size.height).reduce(0) { sum, y in
                sum + (0..<size.width).reduce(0) { $0 + result.values($1, y)[3] }
            }
            #expect(abs(Double(alpha) / 255 / 10_000 - share) < 0.005, "\(mask) \(Double(alpha) / 255 / 10_000)")
            #expect(result.values(size.width / 2, size.height / 2) == [200, 100, 50, 255])
        }
        let ellipse = try OperationFixture.render(image) { $0.mask = .ellipse }
        #expect(ellipse.values(0, size.height / 2)[3] > 200 && ellipse.values(size.width / 2, 0)[3] > 200)
        #expect(ellipse.values(3, 3)[3] == 0)
    }

    @Test func `shapes point up, unless the mask is turned`() throws {
        let image = OperationFixture.plain([200, 100, 50], width: 100, height: 100)
        for mask in [ImageOperations.Mask.triangle, .pentagon, .hexagon, .star] {
            let result = try OperationFixture.render(image) { $0.mask = mask }
            #expect(result.values(50, 3)[3] > 0 && result.values(20, 3)[3] == 0, "\(mask)")
        }
        for mask in [ImageOperations.Mask.triangleDown, .pentagonDown] {
            let result = try OperationFixture.render(image) { $0.mask = mask }
            #expect(result.values(50, 97)[3] > 0 && result.values(20, 97)[3] == 0, "\(mask)")
        }
        let heart = try OperationFixture.render(image) { $0.mask = .heart }
        #expect(heart.values(50, 90)[3] > 0 && heart.values(50, 6)[3] == 0 && heart.values(25, 8)[3] > 0)
    }
}
