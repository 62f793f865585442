import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Areas of a GIF that no frame covers, in files without a transparent color.
struct GIFGroundTests {
    private static let color: [UInt8] = [255, 0, 0]

    /// A file of opaque frames at the top left of a screen, each with its disposal method.
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

    @Test(arguments: [(3, 0), (2, 0), (1, 255), (0, 255)] as [(UInt8, UInt8)])
    func `pixels that the first frame gives back are transparent`(disposal: UInt8, alpha: UInt8) throws {
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

    @Test func `a frame that covers the cleared part leaves no transparent part`() throws {
        let small = PixelSize(width: 20, height: 20)
        let file = Self.file(
            screen: PixelSize(width: 40, height: 30), [(PixelSize(width: 40, height: 30), 0), (small, 2), (small, 0)])
        #expect(try !ImageHeader.inspect(SharedBytes(file)).hasAlpha)
        #expect(try decode(file, DecodePlan(page: 2), lane: .planar).pixel(x: 2, y: 2) == Self.color)
    }

    /// Browsers clear the area to transparent in both cases.
    @Test(arguments: [255, 256])
    func `pixels cleared by a frame of many colors are transparent if it has an unused color`(colors: Int) throws {
        let file = Self.grays(colors: colors)
        let first = try decode(file, DecodePlan(), lane: .planar)
        #expect(first.bands == 4 && (0..<256).allSatisfy { first.pixel(x: $0 % 16, y: $0 / 16)[3] == 255 })
        for plan in [DecodePlan(page: 1), DecodePlan(isAnimated: true)] {
            let image = try decode(file, plan, lane: .planar)
            let last = plan.isAnimated ? 1 : 0
            #expect(image.pixel(x: 3, y: 0, frame: last) == [3, 3, 3, 255])
            #expect(image.pixel(x: 12, y: 12, frame: last) == (colors == 255 ? [0, 0, 0, 0] : [9, 9, 9, 255]))
        }
    }

    /// A 16×16 GIF in up to 256 grays on a gray background, followed by an 8×8 frame.
    private static func grays(colors: Int) -> [UInt8] {
        let background: UInt8 = 9
        func frame(_ side: Int, disposal: UInt8) -> [UInt8] {
            let control: [UInt8] = [0x21, 0xF9, 4, disposal << 2, 10, 0, 0, 0]
            let size = side.littleEndian32.prefix(2)
            return control + [0x2C, 0, 0, 0, 0] + size + size + [0, 8]
                + blocks((0..<side * side).map { $0 % colors }) + [0]
        }
        let size = 16.littleEndian32.prefix(2)
        return Array("GIF89a".utf8) + size + size + [0xF7, background, 0]
            + (0..<256).flatMap { [UInt8](repeating: UInt8($0), count: 3) }
            + frame(16, disposal: 2) + frame(8, disposal: 0) + [0x3B]
    }

    /// Sub-blocks of 9-bit codes; a clear code comes before they would get longer.
    private static func blocks(_ indexes: [Int]) -> [UInt8] {
        var codes: [Int] = []
        for (place, index) in indexes.enumerated() {
            if place.isMultiple(of: 200) { codes.append(256) }
            codes.append(index)
        }
        codes.append(257)
        var bits = codes.flatMap { code in (0..<9).map { code >> $0 & 1 } }
        bits += [Int](repeating: 0, count: (8 - bits.count % 8) % 8)
        let bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            UInt8((0..<8).reduce(0) { $0 | bits[start + $1] << $1 })
        }
        return stride(from: 0, to: bytes.count, by: 255).flatMap { start -> [UInt8] in
            let block = bytes[start..<min(start + 255, bytes.count)]
            return [UInt8(block.count)] + block
        }
    }

    private func decode(_ file: [UInt8], _ plan: DecodePlan, lane: ImageDecoder.Lane) throws -> DecodedImage {
        try Judgement.decode(SharedBytes(file), plan, lane: lane)
    }
}
