import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// Items and samples that contain more frames than are shown; decoders decode all of them.
@Suite(.timeLimit(.minutes(1)))
struct CodedFramesTests {
    private static let sequence = unit(1, [0x00, 0, 0, 0])
    private static let still = unit(1, [0x18, 0, 0, 0])
    private static let frame = unit(6, [0x10, 0, 0])
    private static let side = 1_000

    /// An AV1 OBU with a size.
    private static func unit(_ type: UInt8, _ payload: [UInt8], isExtended: Bool = false) -> [UInt8] {
        [type << 3 | 2 | (isExtended ? 4 : 0)] + (isExtended ? [8] : []) + [UInt8(payload.count)] + payload
    }

    private func item(_ data: [UInt8], side: Int = side) -> HEIFWriter.Item {
        HEIFWriter.Item(id: 1, type: "av01", data: data, properties: [HEIFBox.size(side, side), HEIFBox.av1(0x0C)])
    }

    private func count(_ coding: HEIFCoding, _ data: [UInt8], cutAt cut: Int = 0) throws -> Int {
        // The lengths of units have four bytes.
        let parameters = [UInt8](repeating: 0xFF, count: 22)
        let file = SharedBytes(data[..<cut] + [9, 9, 9] + data[cut...] + parameters)
        let end = data.count + 3
        return try file.withBytes { bytes throws in
            var frames = CodedFrames()
            return try frames.count(
                coding, in: [0..<cut, cut..<cut, cut + 3..<end], parameters: end..<end + 22, of: bytes)
        }
    }

    @Test func `an item with many frames costs all of them, and is rejected if they take too long`() throws {
        func header(_ frames: Int) throws -> ImageHeader {
            let data = Self.sequence + [[UInt8]](repeating: Self.frame, count: frames).flatMap { $0 }
            return try inspect(HEIFWriter([item(data)], primary: 1).file)
        }
        var limits = ImagingLimits()
        limits.sourceFormats.insert(.avif)
        let (one, twelve, many) = (try header(1), try header(12), try header(1_200))
        #expect(one.work.hiddenArea == 0 && one.work.runs == 1)
        #expect(twelve.work.hiddenArea == 11_000_000 && twelve.work.runs == 12)
        #expect(twelve.timeCost(of: DecodePlan()) - one.timeCost(of: DecodePlan()) >= .milliseconds(165))
        // At most eight frames are kept.
        #expect(twelve.cost(of: DecodePlan()) == one.cost(of: DecodePlan()) + 16_000_000)
        try DecodePlan().check(twelve, limits: limits)
        #expect(throws: ImagingError.tooManyPixels(many.storedSize)) { try DecodePlan().check(many, limits: limits) }
        #expect(throws: ImagingError.cannotDecode(detail: "the image consists of 10001 items")) {
            try header(10_001)
        }
    }

    @Test func `an image of two layers shows the better one and costs both`() throws {
        // From libaom 3.12.1: two spatial layers of 16×16 pixels.
        let layers: [UInt8] = [
            0x0A, 0x0C, 0x00, 0x13, 0x01, 0x00, 0x80, 0x80, 0xCF, 0xFC, 0xDA, 0xF9, 0x00, 0x40, 0x36, 0x00, 0x2E, 0x10,
            0x00, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00, 0x80, 0xBF, 0xCF, 0x35, 0xD4, 0x95, 0x32, 0x25, 0x4A, 0xAB, 0x5C,
            0x72, 0xD3, 0x62, 0xFC, 0x1B, 0x5A, 0xE1, 0x39, 0x53, 0x9E, 0x42, 0x79, 0x5B, 0x77, 0x85, 0xF9, 0xE5, 0x38,
            0x93, 0xCB, 0x7F, 0x3B, 0x0F, 0x8B, 0x75, 0xD7, 0xD8, 0x36, 0x08, 0x14, 0x30, 0x03, 0xC0, 0x80, 0x02, 0x00,
            0x06, 0xE2, 0x00, 0xF3, 0xCF, 0x3C, 0x2C, 0x34, 0x8A, 0x00, 0xC9, 0x79, 0xB0, 0xB0,
        ]
        let file = SharedBytes(HEIFWriter([item(layers, side: 16)], primary: 1).file)
        let header = try ImageHeader.inspect(file)
        #expect(header.work.hiddenArea == 256 && header.size == PixelSize(width: 16, height: 16))
        try ImageLibrary.start()
        let image = try ImageDecoder.decode(
            file, header: header, plan: DecodePlan(), limits: .none, token: WorkToken())
        #expect(image.size == header.size)
    }

    @Test func `units are counted across the parts of an item, and up to damage`() throws {
        let units = [
            Self.unit(2, []), Self.sequence, Self.frame, Self.unit(3, [0x10], isExtended: true), Self.unit(4, [1, 2]),
            Self.unit(7, [0x10]), Self.unit(15, [UInt8](repeating: 0, count: 9)), Self.frame,
        ]
        let data = units.flatMap { $0 }
        for cut in 0...data.count { #expect(try count(.av1, data, cutAt: cut) == 4, "\(cut)") }
        #expect(try count(.av1, data + [0x32, 0x7F, 1]) == 4)
        // An OBU without a size extends to the end of the data.
        #expect(try count(.av1, data + [0x30, 0x10] + data) == 5)
        #expect(try count(.av1, Array(data.dropLast(Self.frame.count - 1))) == 3)
    }

    @Test func `a repeated frame is not decoded again, unless headers are too short to detect it`() throws {
        let repeated = Self.unit(3, [0x80])
        #expect(try count(.av1, Self.sequence + Self.frame + repeated + repeated) == 1)
        #expect(try count(.av1, Self.still + Self.frame + repeated + repeated) == 3)
    }

    @Test func `slices of HEVC may each cover the image, and a second image is rejected`() throws {
        func unit(_ bytes: [UInt8]) -> [UInt8] { bytes.count.bigEndian32 + bytes }
        let (first, more, other) = (unit([0x28, 1, 0xAF]), unit([0x28, 1, 0x25]), unit([0x28, 9, 0xAF]))
        let data = unit([0x40, 1, 12]) + unit([]) + first + more + other + more
        for cut in 0...data.count { #expect(try count(.hevc, data, cutAt: cut) == 3, "\(cut)") }
        #expect(throws: ImagingError.cannotDecode(detail: "an item holds 2 images")) {
            try count(.hevc, data + first)
        }
        #expect(throws: ImagingError.cannotDecode(detail: "an item holds 2 images")) {
            try count(.hevc, data + unit([0, 0, 3, 0x80]))
        }
    }

    @Test func `the parameters of an HEVC item contain no image`() throws {
        let slice: [UInt8] = [0x28, 1, 0xAF]
        let box = [UInt8](repeating: 0, count: 22) + [1, 0x28, 0, 1, 0, 3] + slice
        let decoder = try CodedDecoder(.hevc, size: PixelSize(width: 16, height: 16))
        #expect(throws: ImagingError.cannotDecode(detail: "the parameters of an HEVC item hold an image")) {
            try SharedBytes(box).withBytes { bytes throws in
                _ = unsafe try decoder.frame(of: bytes.extracting(0..<0), parameters: bytes)
            }
        }
    }

    @Test func `data in millions of units are rejected without parsing them`() {
        let data = [[UInt8]](repeating: Self.unit(2, []), count: 1_000_000).flatMap { $0 }
        let start = threadTime
        #expect(throws: ImagingError.cannotDecode(detail: "the coded data have too many units")) {
            try inspect(HEIFWriter([item(data)], primary: 1).file)
        }
        #expect(threadTime - start < .milliseconds(200))
    }

    @Test func `hidden frames of a sequence are counted and limited`() throws {
        let size = PixelSize(width: 64, height: 48)
        var writer = HEIFSequenceWriter([UInt8](0..<12).map { .plain(size, [$0, 9, 9]) })
        #expect(try inspect(writer.file).work.hiddenArea == 0)
        let frames = { [[UInt8]](repeating: Self.frame, count: $0).flatMap { $0 } }
        writer.additions = [2: frames(3), 3: frames(1), 9: frames(2)]
        let header = try inspect(writer.file)
        #expect(header.work.hiddenArea == 6 * size.area && header.work.runs == 6 && header.frames == 12)
        writer.additions = [0: frames(10_001)]
        #expect(isDamaged(writer.file))
    }

    @Test func `a late frame of a sequence costs the memory of its possible reference frames`() {
        let header = ImageHeader(
            format: .avif, storedSize: PixelSize(width: 1_000, height: 1_000), frames: 20, isChromaSubsampled: true)
        let costs = [0, 1, 8, 19].map { header.cost(of: DecodePlan(page: $0)) - header.cost(of: DecodePlan()) }
        #expect(costs == [0, 2_000_000, 16_000_000, 16_000_000])
    }
}
