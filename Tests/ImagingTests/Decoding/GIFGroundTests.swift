import Coordination
import Imaging
import Memory
import TestSupport
import Testing

/// Places of a GIF that no frame covers, in files without a transparent color.
struct GIFGroundTests {
    private static let color: [UInt8] = [255, 0, 0]

    /// A file of opaque frames at the upper left of a screen, each with its disposal.
    private static func file(
        screen: PixelSize, _ frames: [(size: PixelSize, disposal: UInt8)], isCut: Bool = false
    ) -> [UInt8] {
        let stills = frames.map { ImageFixture.file(.plain($0.size, color), as: .gif) }
        let start = firstBlock(of: stills[0])
        var head = Array(stills[0].prefix(start))
        head.replaceSubrange(
            6..<10, with: screen.width.littleEndian32.prefix(2) + screen.height.littleEndian32.prefix(2))
        let blocks = zip(stills, frames).flatMap { still, frame -> [UInt8] in
            let control: [UInt8] = [0x21, 0xF9, 4, frame.disposal << 2, 10, 0, 0, 0]
            return control + still[descriptor(in: still)...].dropLast()
        }
        return isCut ? head + blocks.dropLast() : head + blocks + [0x3B]
    }

    private static func firstBlock(of file: [UInt8]) -> Int {
        13 + (file[10] & 0x80 == 0 ? 0 : 6 << Int(file[10] & 7))
    }

    private static func descriptor(in file: [UInt8]) -> Int {
        var offset = firstBlock(of: file)
        while file[offset] == 0x21 {
            offset += 2
            while file[offset] > 0 { offset += Int(file[offset]) + 1 }
            offset += 1
        }
        return offset
    }

    @Test(arguments: [false, true], ImageDecoder.Lane.allCases)
    func `the margin of a still is transparent`(isCut: Bool, lane: ImageDecoder.Lane) throws {
        let file = Self.file(
            screen: PixelSize(width: 40, height: 30), [(PixelSize(width: 20, height: 20), 0)], isCut: isCut)
        for level in [1, 2] {
            let image = try decode(file, DecodePlan(level: level), lane: lane)
            #expect(image.size == PixelSize(width: 40 / level, height: 30 / level) && image.bands == 4)
            #expect(image.pixel(x: 2, y: 2) == Self.color + [255])
            #expect(image.pixel(x: 30 / level, y: 10 / level)[3] == 0 && image.pixel(x: 5, y: 28 / level)[3] == 0)
        }
    }

    @Test(arguments: [(3, 0), (1, 255), (0, 255)] as [(UInt8, UInt8)])
    func `what the first frame gives back is transparent`(disposal: UInt8, alpha: UInt8) throws {
        let size = PixelSize(width: 40, height: 30)
        let file = Self.file(screen: size, [(size, disposal), (PixelSize(width: 20, height: 20), 0)])
        for plan in [DecodePlan(page: 1), DecodePlan(isAnimated: true)] {
            let image = try decode(file, plan, lane: .planar)
            let (bands, last) = (alpha == 0 ? 4 : 3, plan.isAnimated ? 1 : 0)
            #expect(image.bands == bands && image.frames == last + 1)
            #expect(image.pixel(x: 2, y: 2, frame: last).prefix(3) == Self.color[...])
            let beyond = image.pixel(x: 30, y: 25, frame: last)
            #expect(alpha == 0 ? beyond[3] == 0 : beyond == Self.color)
        }
    }

    private func decode(_ file: [UInt8], _ plan: DecodePlan, lane: ImageDecoder.Lane) throws -> DecodedImage {
        try Judgement.decode(SharedBytes(file), plan, lane: lane)
    }
}
