import Imaging
import Testing

struct ImageHeaderPriceTests {
    private let size = PixelSize(width: 1_000, height: 1_000)

    @Test func `a reduction makes a sequential JPEG cheap, a progressive one not`() {
        let sequential = ImageHeader(format: .jpeg, storedSize: size, isChromaSubsampled: true)
        #expect(sequential.price(of: DecodePlan(level: 1)) == 3_000_000)
        #expect(sequential.price(of: DecodePlan(level: 2)) == 750_000)
        let progressive = ImageHeader(format: .jpeg, storedSize: size, isProgressive: true, isChromaSubsampled: true)
        #expect(progressive.price(of: DecodePlan(level: 2)) == 3_750_000)
        let full = ImageHeader(format: .jpeg, storedSize: size, isProgressive: true)
        #expect(full.price(of: DecodePlan(level: 2)) == 6_750_000)
    }

    @Test func `an interlaced PNG is held whole`() {
        let plain = ImageHeader(format: .png, storedSize: size, bands: 4, bitDepth: 16, hasAlpha: true)
        #expect(plain.price(of: DecodePlan(level: 2)) == 1_000_000)
        let interlaced = ImageHeader(
            format: .png, storedSize: size, bands: 4, bitDepth: 16, hasAlpha: true, isProgressive: true)
        #expect(interlaced.price(of: DecodePlan(level: 2)) == 9_000_000)
    }

    @Test func `frames are paid for when they are kept`() {
        let header = ImageHeader(format: .gif, storedSize: size, bands: 4, frames: 10, hasAlpha: true)
        #expect(header.price(of: DecodePlan()) == 9_000_000)
        #expect(header.price(of: DecodePlan(isAnimated: true)) == 45_000_000)
    }

    @Test func `a monstrous claim has a monstrous price`() {
        let header = ImageHeader(format: .avif, storedSize: PixelSize(width: 1 << 32, height: 1 << 32))
        #expect(header.price(of: DecodePlan()) == .max)
    }
}
