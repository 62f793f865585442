import Recipes
import TestSupport
import Testing

/// Memory costs for an image of a million pixels, of which libvips keeps 900 rows.
struct ImageHeaderCostTests {
    private static let size = PixelSize(width: 1_000, height: 1_000)

    /// A header, the level of a decode, and its cost in bytes.
    struct Row: Sendable, CustomStringConvertible {
        let description: String
        let header: ImageHeader
        let level: Int
        let cost: Int

        init(
            _ description: String, _ format: ImageFormat, level: Int = 1, bands: Int = 3, depth: Int = 8,
            isProgressive: Bool = false, isSubsampled: Bool = false, cost: Int
        ) {
            self.description = "\(description) at \(level)"
            header = ImageHeader(
                format: format, storedSize: size, bands: bands, bitDepth: depth, hasAlpha: bands % 2 == 0,
                isProgressive: isProgressive, isChromaSubsampled: isSubsampled)
            self.level = level
            self.cost = cost
        }
    }

    @Test(arguments: [
        Row("sequential JPEG", .jpeg, isSubsampled: true, cost: 3_000_000 + 2_700_000),
        Row("sequential JPEG", .jpeg, level: 2, isSubsampled: true, cost: 750_000 + 1_350_000),
        Row("sequential JPEG", .jpeg, level: 8, isSubsampled: true, cost: 46_875 + 337_500),
        Row("gray JPEG", .jpeg, bands: 1, cost: 1_000_000 + 900_000),
        Row("JPEG in CMYK", .jpeg, bands: 4, cost: 4_000_000 + 3_600_000 + (4 << 20)),
        Row("progressive JPEG", .jpeg, level: 2, isProgressive: true, isSubsampled: true, cost: 2_100_000 + 3_000_000),
        Row("progressive JPEG of full chroma", .jpeg, level: 2, isProgressive: true, cost: 2_100_000 + 6_000_000),
        Row("PNG", .png, cost: 3_000_000 + 2_700_000),
        Row("PNG", .png, level: 4, cost: 187_500 + 2_700_000),
        Row("PNG of 16 bits with alpha", .png, bands: 4, depth: 16, cost: 4_000_000 + 7_200_000),
        Row("PNG of one bit", .png, bands: 1, depth: 1, cost: 1_000_000 + 900_000),
        Row("interlaced PNG of 16 bits", .png, bands: 4, depth: 16, isProgressive: true, cost: 11_200_000 + 8_000_000),
        Row("WebP", .webp, cost: 5_700_000 + 12_000_000),
        Row("WebP", .webp, level: 2, cost: 750_000 + 2_700_000 + 8_000_000),
        Row("GIF", .gif, bands: 4, cost: 7_600_000 + 5_000_000),
        Row("AVIF", .avif, isSubsampled: true, cost: 5_700_000 + 8_000_000),
        Row("AVIF of full chroma", .avif, cost: 5_700_000 + 14_000_000),
        Row("AVIF of 12 bits", .avif, depth: 12, isSubsampled: true, cost: 3_000_000 + 5_400_000 + 18_000_000),
    ])
    func `each kind of source has its cost`(row: Row) {
        #expect(row.header.cost(of: DecodePlan(level: row.level)) == row.cost)
    }

    @Test func `each row of a narrow TIFF costs memory`() {
        let column = ImageHeader(format: .tiff, storedSize: PixelSize(width: 1, height: 1_000_000), bands: 1)
        #expect(column.cost(of: DecodePlan()) >= 32_000_000)
    }

    @Test func `bytes of a progressive JPEG cost more if its fine scans are read`() {
        func time(isProgressive: Bool, level: Int) -> Duration {
            let header = ImageHeader(format: .jpeg, storedSize: Self.size, isProgressive: isProgressive)
            return header.timeCost(of: DecodePlan(level: level), fileByteCount: 1_000_000)
                - header.timeCost(of: DecodePlan(level: level))
        }
        #expect(time(isProgressive: true, level: 1) == .milliseconds(30))
        #expect(time(isProgressive: true, level: 4) == .milliseconds(10))
        #expect(time(isProgressive: false, level: 1) == .milliseconds(10))
    }

    @Test func `frames cost only if they are decoded`() {
        let gif = ImageHeader(format: .gif, storedSize: Self.size, bands: 4, frames: 10, hasAlpha: true)
        #expect(gif.cost(of: DecodePlan()) == 12_600_000)
        #expect(gif.cost(of: DecodePlan(isAnimated: true)) == 40_000_000 + 3_600_000 + 5_000_000)
        let webp = ImageHeader(format: .webp, storedSize: Self.size, frames: 10)
        #expect(webp.cost(of: DecodePlan(isAnimated: true)) == 30_000_000 + 2_700_000 + 40_000_000)
    }

    @Test func `rotated planes cost twice`() {
        func cost(_ format: ImageFormat, _ orientation: QuarterTurn) -> Int {
            ImageHeader(format: format, storedSize: Self.size, orientation: orientation).cost(of: DecodePlan(level: 2))
        }
        for format in [ImageFormat.jpeg, .webp] { #expect(cost(format, 6) == cost(format, 1) + 750_000) }
        #expect(cost(.png, 6) == cost(.png, 1))
    }

    @Test func `the file has a cost as well`() {
        let header = ImageHeader(format: .png, storedSize: Self.size)
        #expect(header.cost(of: DecodePlan(), fileByteCount: 7) == header.cost(of: DecodePlan()) + 7)
    }

    @Test func `a monstrous claim has a monstrous cost`() {
        let header = ImageHeader(format: .avif, storedSize: PixelSize(width: 1 << 32, height: 1 << 32))
        #expect(header.cost(of: DecodePlan()) == .max)
    }

    @Test(arguments: ImageFormat.written)
    func `a render's cost grows with its pixels, in between and in the result`(format: ImageFormat) {
        let small = RenderPlan(resizedSize: PixelSize(width: 100, height: 100), format: format, quality: 80)
        let large = RenderPlan(resizedSize: PixelSize(width: 200, height: 100), format: format, quality: 80)
        let crop = RenderPlan(
            source: FrameShape(size: PixelSize(width: 50, height: 50), hasAlpha: false),
            steps: [
                ResampleStep(to: PixelSize(width: 200, height: 100)),
                CropStep(x: 0, y: 0, size: PixelSize(width: 100, height: 100)),
            ], format: format, quality: 80)
        #expect(small.cost > 10_000 && large.cost > small.cost)
        // The input of an enlargement stays in memory.
        #expect(crop.cost == large.cost + 3 * 50 * 50)
    }
}
