import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

@Suite(.timeLimit(.minutes(1)))
struct TrimTests {
    /// Two colors inside a border: 10 pixels on the left, 20 at the top, 30 on the right, 40 at the bottom.
    private static func framed(_ border: [UInt8], inside: [[UInt8]] = [[200, 40, 20], [10, 60, 220]]) -> SampleImage {
        SampleImage(PixelSize(width: 140, height: 120), bands: border.count) { x, y in
            guard 10..<110 ~= x, 20..<80 ~= y else { return border }
            return inside[x < 60 ? 0 : 1] + (border.count == 4 ? [255] : [])
        }
    }

    private static func trim(_ tolerance: Int, _ color: Color? = nil) -> (inout ImageOperations) -> Void {
        { $0.trim = .init(tolerance: tolerance, color: color) }
    }

    @Test(arguments: [[255, 255, 255], [30, 30, 90], [0, 0, 0, 0]] as [[UInt8]])
    func `borders of the corner's color are cropped`(border: [UInt8]) throws {
        let result = try OperationFixture.render(Self.framed(border), change: Self.trim(10))
        #expect(result.size == PixelSize(width: 100, height: 60))
        #expect(Array(result.values(0, 0).prefix(3)) == [200, 40, 20])
        #expect(Array(result.values(99, 59).prefix(3)) == [10, 60, 220])
    }

    @Test(arguments: [ImageFormat.jpeg, .webp, .gif])
    func `any format is trimmed before it is resized`(source: ImageFormat) throws {
        for format in [ImageFormat.jpeg, .png, .webp] {
            let result = try OperationFixture.render(
                Self.framed([255, 255, 255]), options(50, nil), source: source, as: format, change: Self.trim(60))
            #expect(result.size == PixelSize(width: 50, height: 30))
            #expect(result.isClose(x: 4, y: 4, to: [200, 40, 20] + (result.hasAlpha ? [255] : []), tolerance: 25))
        }
    }

    @Test func `the tolerance applies to each channel, alpha included`() throws {
        func width(_ tolerance: Int, _ difference: [Int], alpha: Int = 0) throws -> Int {
            let image = SampleImage(PixelSize(width: 40, height: 40), bands: 4) { x, y in
                let isInside = 10..<30 ~= x && 10..<30 ~= y
                guard isInside else { return [100, 100, 100, 200] }
                return difference.map { UInt8(100 + $0) } + [UInt8(200 + alpha)]
            }
            return try OperationFixture.render(image, change: Self.trim(tolerance)).size.width
        }
        #expect(try width(10, [11, 0, 0]) == 20 && width(10, [10, 10, 10]) == 40)
        #expect(try width(10, [0, 0, -11]) == 20 && width(11, [0, 0, -11]) == 40)
        #expect(try width(10, [0, 0, 0], alpha: 11) == 20 && width(11, [0, 0, 0], alpha: 11) == 40)
    }

    @Test func `one differing pixel ends a border`() throws {
        for (x, y) in [(3, 60), (135, 60), (60, 2), (60, 117)] {
            var pixels = Self.framed([255, 255, 255])
            pixels = SampleImage(pixels.size, bands: 3) { column, row in
                let start = (row * 140 + column) * 3
                return column == x && row == y ? [0, 0, 0] : Array(pixels.pixels[start..<start + 3])
            }
            let result = try OperationFixture.render(pixels, change: Self.trim(10))
            let (left, right, top, bottom) = (min(10, x), max(109, x), min(20, y), max(79, y))
            #expect(result.size == PixelSize(width: right - left + 1, height: bottom - top + 1))
        }
    }

    @Test func `an image of only border stays whole`() throws {
        for color in [[255, 255, 255], [9, 9, 9, 0]] as [[UInt8]] {
            let result = try OperationFixture.render(OperationFixture.plain(color), change: Self.trim(1))
            #expect(result.size == PixelSize(width: 40, height: 30))
        }
    }

    @Test func `a color may be set`() throws {
        let other = Color(red: 0, green: 255, blue: 0)
        #expect(
            try OperationFixture.render(Self.framed([255, 255, 255]), change: Self.trim(10, other)).size.width == 140)
        #expect(
            try OperationFixture.render(Self.framed([255, 255, 255]), change: Self.trim(10, .white)).size.width == 100)
    }

    @Test(arguments: [ImageFormat.png, .jpeg])
    func `crop and rotate are of the trimmed image`(source: ImageFormat) throws {
        let result = try OperationFixture.render(Self.framed([255, 255, 255]), source: source) {
            $0.trim = .init(tolerance: 60)
            $0.crop = .pixels(x: 25, y: 0, width: 50, height: 600)
            $0.rotation = 90
        }
        #expect(result.size == PixelSize(width: 60, height: 50))
        #expect(result.isClose(x: 30, y: 5, to: [200, 40, 20], tolerance: 25))
        #expect(result.isClose(x: 30, y: 45, to: [10, 60, 220], tolerance: 25))
        #expect(throws: ImagingError.cropOutside(PixelSize(width: 100, height: 60))) {
            try OperationFixture.render(Self.framed([255, 255, 255])) {
                $0.trim = .init(tolerance: 10)
                $0.crop = .pixels(x: 100, y: 0, width: 5, height: 5)
            }
        }
    }

    @Test func `a result that is too large only after the trim is rejected`() throws {
        let image = SampleImage(PixelSize(width: 400, height: 400), bands: 3) { x, _ in
            x == 200 ? [0, 0, 0] : [255, 255, 255]
        }
        var limits = ImagingLimits()
        limits.maximumOutputPixels = 400 * 400
        var options = options(20, nil, enlarge: true)
        options.operations.trim = .init(tolerance: 10)
        let file = SharedBytes(ImageFixture.file(image, as: .png))
        #expect(try thumbnail(file, options, .png, limits: limits).size == PixelSize(width: 20, height: 8_000))
        options.width = 21
        #expect(throws: ImagingError.tooManyPixels(PixelSize(width: 21, height: 8_400), frames: 1)) {
            try thumbnail(file, options, .png, limits: limits)
        }
    }

    @Test func `the key includes everything that affects the result`() throws {
        func key(_ change: (inout RenderingOptions) -> Void) throws -> [String] {
            try plan(
                140, 120,
                options(300, nil) {
                    $0.operations.trim = .init(tolerance: 10)
                    change(&$0)
                }
            ).keyTexts
        }
        let changes: [(inout RenderingOptions) -> Void] = [
            { _ in }, { $0.width = 400 }, { $0.height = 400 },
            {
                $0.fit = .outside; $0.height = 400
            },
            { $0.operations.trim?.tolerance = 11 }, { $0.operations.trim?.color = .white },
            { $0.operations.crop = .pixels(x: 0, y: 0, width: 500, height: 500) },
            { $0.operations.crop = .pixels(x: 0, y: 0, width: 600, height: 500) },
            { $0.operations.trim = nil },
            {
                $0.gravity = .top; $0.fit = .cover; $0.height = 400
            },
            {
                $0.gravity = .left; $0.fit = .cover; $0.height = 400
            },
        ]
        let keys = try changes.map(key)
        #expect(Set(keys).count == changes.count)
        #expect(keys[0].last == "trim 10 corner box 300xany 1000 inside false center none all")
    }

    /// The part within the border, found in interleaved pixels.
    private static func box(
        _ image: SampleImage, _ tolerance: Int, _ configure: (inout ImageOperations.Trim) -> Void
    ) throws -> [Int] {
        var trim = ImageOperations.Trim(tolerance: tolerance)
        configure(&trim)
        let pixels = DecodedImage(image)
        let part = try pixels.region(inside: trim, token: WorkToken())
        return [part.x, part.y, part.size.width, part.size.height]
    }

    @Test func `medians ignore single pixels, but not edges and corners of two`() throws {
        let magenta = Color(red: 255, green: 0, blue: 255)
        var noisy = Self.framed([255, 255, 255])
        noisy = SampleImage(noisy.size, bands: 3) { x, y in
            let start = (y * 140 + x) * 3
            return x % 9 == 4 && y % 7 == 3 ? [0, 0, 0] : Array(noisy.pixels[start..<start + 3])
        }
        #expect(try Self.box(noisy, 10) { $0.matte = magenta } == [10, 20, 100, 60])
        #expect(try Self.box(noisy, 10) { _ in } == [4, 3, 136, 113])
        let line = SampleImage(PixelSize(width: 30, height: 20), bands: 3) { x, _ in
            x == 15 ? [0, 0, 0] : [255, 255, 255]
        }
        // A line of one pixel counts as noise; nothing else is left, so the image is not trimmed.
        #expect(try Self.box(line, 10) { $0.matte = magenta } == [0, 0, 30, 20])
    }

    @Test func `transparent parts count as the matte color`() throws {
        let image = SampleImage(PixelSize(width: 30, height: 20), bands: 4) { x, y in
            10..<20 ~= x && 5..<15 ~= y ? [200, 40, 20, 255] : [UInt8(x), UInt8(y), 9, 0]
        }
        let magenta = Color(red: 255, green: 0, blue: 255)
        #expect(try Self.box(image, 0) { $0.matte = magenta } == [10, 5, 10, 10])
        #expect(try Self.box(image, 0) { ($0.matte, $0.color) = (magenta, magenta) } == [10, 5, 10, 10])
        #expect(try Self.box(image, 0) { ($0.matte, $0.color) = (magenta, .white) } == [0, 0, 30, 20])
    }

    @Test func `equal borders are as narrow as the narrower one`() throws {
        let image = Self.framed([255, 255, 255])
        #expect(try Self.box(image, 10) { $0.isEqualAcross = true } == [10, 20, 120, 60])
        #expect(try Self.box(image, 10) { $0.isEqualDown = true } == [10, 20, 100, 80])
    }
}
