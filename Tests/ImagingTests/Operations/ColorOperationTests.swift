import Glibc
import Imaging
import Recipes
import TestSupport
import Testing

/// Color steps compared with an independent implementation of CSS Filter Effects 1.
@Suite(.timeLimit(.minutes(1)))
struct ColorOperationTests {
    /// Colors with very different, extreme and equal components.
    private static let colors: [[UInt8]] = [
        [200, 40, 20], [30, 180, 60], [10, 60, 220], [128, 128, 128], [0, 0, 0], [255, 255, 255], [255, 0, 0],
        [250, 251, 3],
    ]

    /// The filters as CSS defines them, on components from 0 to 1.
    private static func expected(_ color: [UInt8], _ filters: OperationNumbers) -> [Int] {
        func clamped(_ values: [Double]) -> [Double] { values.map { min(max($0, 0), 1) } }
        func times(_ matrix: [[Double]], _ color: [Double]) -> [Double] {
            clamped(matrix.map { row in zip(row, color).reduce(0) { $0 + $1.0 * $1.1 } })
        }
        var rgb = color.map { Double($0) / 255 }
        let brightness = Double(filters[.brightness]) / 100
        rgb = clamped(rgb.map { $0 * brightness })
        let contrast = Double(filters[.contrast]) / 100
        rgb = clamped(rgb.map { $0 * contrast - 0.5 * contrast + 0.5 })
        let s = Double(filters[.saturation]) / 100
        rgb = times(
            [
                [0.213 + 0.787 * s, 0.715 - 0.715 * s, 0.072 - 0.072 * s],
                [0.213 - 0.213 * s, 0.715 + 0.285 * s, 0.072 - 0.072 * s],
                [0.213 - 0.213 * s, 0.715 - 0.715 * s, 0.072 + 0.928 * s],
            ], rgb)
        let (c, n) = (cos(Double(filters[.hue]) * .pi / 180), sin(Double(filters[.hue]) * .pi / 180))
        rgb = times(
            [
                [0.213 + c * 0.787 - n * 0.213, 0.715 - c * 0.715 - n * 0.715, 0.072 - c * 0.072 + n * 0.928],
                [0.213 - c * 0.213 + n * 0.143, 0.715 + c * 0.285 + n * 0.140, 0.072 - c * 0.072 - n * 0.283],
                [0.213 - c * 0.213 - n * 0.787, 0.715 - c * 0.715 + n * 0.715, 0.072 + c * 0.928 + n * 0.072],
            ], rgb)
        let g = 1 - Double(filters[.grayscale]) / 100
        rgb = times(
            [
                [0.2126 + 0.7874 * g, 0.7152 - 0.7152 * g, 0.0722 - 0.0722 * g],
                [0.2126 - 0.2126 * g, 0.7152 + 0.2848 * g, 0.0722 - 0.0722 * g],
                [0.2126 - 0.2126 * g, 0.7152 - 0.7152 * g, 0.0722 + 0.9278 * g],
            ], rgb)
        let p = 1 - Double(filters[.sepia]) / 100
        rgb = times(
            [
                [0.393 + 0.607 * p, 0.769 - 0.769 * p, 0.189 - 0.189 * p],
                [0.349 - 0.349 * p, 0.686 + 0.314 * p, 0.168 - 0.168 * p],
                [0.272 - 0.272 * p, 0.534 - 0.534 * p, 0.131 + 0.869 * p],
            ], rgb)
        let i = Double(filters[.inversion]) / 100
        return rgb.map { Int(($0 * (1 - 2 * i) + i) * 255 + 0.5) }
    }

    private func expect(_ change: (inout OperationNumbers) -> Void) throws {
        var filters = OperationNumbers()
        change(&filters)
        for color in Self.colors {
            for alpha in [[], [100]] as [[UInt8]] {
                let image = OperationFixture.plain(color + alpha, width: 5, height: 3)
                let result = try OperationFixture.render(image) { $0.numbers = filters }
                let wanted = Self.expected(color, filters) + alpha.map(Int.init)
                // Floating point may round a half the other way.
                #expect(
                    result.isClose(x: 4, y: 2, to: wanted, tolerance: 1), "\(filters) \(color) \(result.values(4, 2))")
            }
        }
    }

    @Test(arguments: [0, 50, 99, 130, 400])
    func `brightness, contrast and saturate match CSS`(percent: Int) throws {
        try expect { $0[.brightness] = percent }
        try expect { $0[.contrast] = percent }
        try expect { $0[.saturation] = percent }
    }

    @Test(arguments: [1, 60, 90, 180, 359])
    func `hue matches CSS`(degrees: Int) throws {
        try expect { $0[.hue] = degrees }
    }

    @Test(arguments: [1, 50, 100])
    func `grayscale, sepia and invert match CSS`(percent: Int) throws {
        try expect { $0[.grayscale] = percent }
        try expect { $0[.sepia] = percent }
        try expect { $0[.inversion] = percent }
    }

    @Test func `filters are applied in order, each clipped`() throws {
        try expect { ($0[.brightness], $0[.contrast]) = (300, 50) }
        try expect { ($0[.brightness], $0[.inversion]) = (300, 100) }
        try expect { ($0[.saturation], $0[.hue], $0[.grayscale], $0[.sepia], $0[.inversion]) = (300, 120, 30, 60, 20) }
        try expect { ($0[.saturation], $0[.grayscale], $0[.sepia]) = (50, 30, 100) }
        try expect { ($0[.contrast], $0[.saturation], $0[.inversion]) = (200, 0, 100) }
    }

    @Test func `a single lookup or matrix is exact`() throws {
        let image = OperationFixture.quarters(8, 6)
        let dim = try OperationFixture.render(image) { $0[.brightness] = 50 }
        #expect(dim.values(0, 0) == [100, 20, 10] && dim.values(7, 5) == [64, 64, 64])
        let negative = try OperationFixture.render(image) { $0[.inversion] = 100 }
        #expect(negative.values(0, 0) == [55, 215, 235] && negative.values(7, 0) == [225, 75, 195])
        let gray = try OperationFixture.render(image) { $0[.grayscale] = 100 }
        #expect(gray.values(0, 0) == [73, 73, 73] && gray.values(7, 0) == [139, 139, 139])
    }

    @Test(arguments: [1, 2])
    func `gray images support all filters`(bands: Int) throws {
        let image = SampleImage.plain(PixelSize(width: 20, height: 20), [100] + (bands == 2 ? [50] : []))
        let dim = try OperationFixture.render(image) { $0[.brightness] = 50 }
        #expect(dim.values(3, 3).first == 50)
        for change in [{ $0[.saturation] = 0 }, { $0[.hue] = 90 }, { $0[.grayscale] = 100 }]
            as [(inout OperationNumbers) -> Void]
        {
            #expect(try OperationFixture.render(image) { change(&$0.numbers) }.values(3, 3).first == 100)
        }
        let brown = try OperationFixture.render(image) { $0[.sepia] = 100 }
        #expect(Array(brown.values(3, 3).prefix(3)) == [135, 120, 94])
        #expect(brown.hasAlpha == (bands == 2))
    }

    @Test(arguments: [ImageFormat.jpeg, .webp], [ImageFormat.jpeg, .webp, .png, .gif])
    func `all sources and results support color operations`(source: ImageFormat, format: ImageFormat) throws {
        let image = OperationFixture.quarters(80, 64)
        let result = try OperationFixture.render(image, source: source, as: format) { $0[.inversion] = 100 }
        for (x, y, color) in [(20, 16, [55, 215, 235]), (60, 16, [225, 75, 195]), (60, 48, [127, 127, 127])] {
            #expect(result.isClose(x: x, y: y, to: color + (result.hasAlpha ? [255] : []), tolerance: 14), "\(x) \(y)")
        }
    }

    @Test func `color operations leave the background and the bars unchanged`() throws {
        var options = RenderingOptions()
        (options.width, options.height, options.fit) = (40, 40, .contain)
        options.background = Color(red: 10, green: 20, blue: 30)
        let image = OperationFixture.plain([200, 100, 0], width: 40, height: 20)
        for blur in [0, 100] {
            let result = try OperationFixture.render(image, options) {
                $0[.inversion] = 100
                $0[.blur] = blur
            }
            #expect(result.values(20, 1) == [10, 20, 30])
            #expect(result.values(20, 20) == [55, 155, 255])
        }
        let veiled = try OperationFixture.render(OperationFixture.plain([200, 100, 0, 0]), options) {
            $0[.inversion] = 100
        }
        #expect(veiled.values(20, 20) == [10, 20, 30, 255])
    }
}
