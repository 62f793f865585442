import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Positions of watermarks on results.
@Suite(.timeLimit(.minutes(1)))
struct OverlayPlaceTests {
    @Test(arguments: [nil, 5_000])
    func `a watermark is drawn over the trimmed image`(scale: Int?) throws {
        let image = SampleImage(WatermarkFixture.size, bands: 3) { x, y in
            8..<28 ~= x && 6..<18 ~= y ? [20, 40, 220] : [0, 0, 0]
        }
        let result = try ImageReading.decode(
            WatermarkFixture.file(
                SharedBytes(ImageFixture.file(image, as: .png)),
                mark: WatermarkFixture.png(WatermarkFixture.markSize, [20, 220, 40])
            ) {
                $0.operations.trim = ImageOperations.Trim(tolerance: 10)
                $1.scale = scale
            })
        #expect(result.size == PixelSize(width: 20, height: 12))
        let (left, top) = scale == nil ? (12, 8) : (10, 7)
        for y in 0..<12 {
            for x in 0..<20 {
                let expected: [UInt8] = x >= left && y >= top ? [20, 220, 40] : [20, 40, 220]
                #expect(result.pixel(x: x, y: y) == expected, "\(x),\(y)")
            }
        }
    }

    @Test(arguments: [(0, 0), (3, 2), (-3, -5), (-8, 0), (-19, -4)])
    func `tiles are repeated to the right and down`(x: Int, y: Int) throws {
        let tile = PixelSize(width: 8, height: 6)
        let image = SampleImage(tile, bands: 3) { x, y in [UInt8(x * 30), UInt8(y * 40), 99] }
        let result = try ImageReading.decode(
            WatermarkFixture.file(
                WatermarkFixture.png(WatermarkFixture.size, [0, 0, 0]),
                mark: SharedBytes(ImageFixture.file(image, as: .png))
            ) { ($1.isTiled, $1.x, $1.y) = (true, x, y) })
        for row in 0..<WatermarkFixture.size.height {
            for column in 0..<WatermarkFixture.size.width {
                let (inX, inY) = (column - x, row - y)
                let expected: [UInt8] =
                    inX < 0 || inY < 0
                    ? [0, 0, 0] : [UInt8(inX % tile.width * 30), UInt8(inY % tile.height * 40), 99]
                #expect(result.pixel(x: column, y: row) == expected, "\(column),\(row)")
            }
        }
    }

    @Test(arguments: [(-30, -20, true), (-30, -20, false), (5, 5, true), (0, 0, false)])
    func `a watermark larger than the result is visible only where they overlap`(x: Int, y: Int, isTiled: Bool) throws {
        let large = PixelSize(width: 50, height: 30)
        let image = SampleImage(large, bands: 3) { x, y in [UInt8(x * 5), UInt8(y * 8), 99] }
        let result = try ImageReading.decode(
            WatermarkFixture.file(
                WatermarkFixture.png(WatermarkFixture.size, [0, 0, 0]),
                mark: SharedBytes(ImageFixture.file(image, as: .png))
            ) { ($1.position, $1.isTiled, $1.x, $1.y) = (.topLeft, isTiled, x, y) })
        for row in 0..<WatermarkFixture.size.height {
            for column in 0..<WatermarkFixture.size.width {
                let (inX, inY) = (column - x, row - y)
                let isOutside = inX < 0 || inY < 0 || !isTiled && (inX >= large.width || inY >= large.height)
                let expected: [UInt8] =
                    isOutside ? [0, 0, 0] : [UInt8(inX % large.width * 5), UInt8(inY % large.height * 8), 99]
                #expect(result.pixel(x: column, y: row) == expected, "\(column),\(row)")
            }
        }
    }

    @Test func `a watermark outside the result adds no step`() throws {
        let (image, mark) = (ImageFixture.png.bytes, WatermarkFixture.png(WatermarkFixture.markSize, [1, 2, 3]))
        let file = try WatermarkFixture.file(image, mark: mark) { $1.x = 64 }
        #expect(try file.array == thumbnail(image, RenderingOptions(), .png).bytes.array)
    }
}
