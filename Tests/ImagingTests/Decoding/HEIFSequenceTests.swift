import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Frames of AVIF sequences.
@Suite(.timeLimit(.minutes(1)))
struct HEIFSequenceTests {
    private static let size = PixelSize(width: 64, height: 48)
    private static let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 0, 0]]

    private static func writer(chunk: Int = 2) -> HEIFSequenceWriter {
        var writer = HEIFSequenceWriter(colors.map { .plain(size, $0) })
        writer.chunk = chunk
        return writer
    }

    @Test func `the header counts the frames`() throws {
        let header = try ImageHeader.inspect(SharedBytes(Self.writer().file))
        #expect(header.format == .avif && header.frames == 5 && header.size == Self.size && !header.hasAlpha)
    }

    @Test(arguments: 1...6)
    func `every frame is a page, in any storage`(chunk: Int) throws {
        let file = Self.writer(chunk: chunk).file
        for (page, color) in Self.colors.enumerated() {
            let image = try decode(file, DecodePlan(page: page))
            #expect(image.size == Self.size && image.frames == 1 && image.delays == [])
            #expect(isNear(image.pixel(x: 9, y: 9), color))
        }
    }

    @Test func `an animation has all frames, or at most the requested number`() throws {
        let file = Self.writer().file
        for (maximum, level) in [(Int.max, 1), (3, 2)] {
            let image = try decode(file, DecodePlan(page: 1, level: level, isAnimated: true, maximumFrames: maximum))
            let colors = Self.colors.dropFirst().prefix(maximum)
            #expect(image.frames == colors.count && image.delays == colors.map { _ in 40 } && image.loop == 0)
            for (frame, color) in colors.enumerated() {
                #expect(isNear(image.pixel(x: 9, y: 9, frame: frame), color))
            }
        }
    }

    @Test func `an edit list sets the number of loops`() throws {
        var writer = Self.writer()
        writer.playsOnce = true
        #expect(try decode(writer.file, DecodePlan(isAnimated: true)).loop == 1)
    }

    @Test func `a page beyond the frames is rejected, and so is a truncated file`() throws {
        let file = Self.writer().file
        #expect(throws: ImagingError.noSuchPage(5, pages: 5)) { try decode(file, DecodePlan(page: 5)) }
        #expect {
            try decode(file.dropLast(), DecodePlan(page: 0))
        } throws: {
            if case ImagingError.cannotDecode = $0 { true } else { false }
        }
    }

    @Test func `a corrupted file is harmless`() throws {
        let file = HEIFSequenceWriter([.plain(Self.size, [9, 9, 9]), .plain(Self.size, [99, 9, 9])]).file
        let data = try #require(file.indices.last { file[$0...].starts(with: "mdat".utf8) })
        for index in 12..<data {
            for byte in [0, 1, 0x7F, 0xFF] as [UInt8] where byte != file[index] {
                var changed = file
                changed[index] = byte
                _ = try? decode(changed, DecodePlan(isAnimated: true), limits: 1 << 16)
            }
        }
    }

    private func isNear(_ pixel: [UInt8], _ color: [UInt8]) -> Bool {
        pixel.count == 3 && zip(pixel, color).allSatisfy { abs(Int($0) - Int($1)) < 12 }
    }

    private func decode(
        _ file: some Collection<UInt8>, _ plan: DecodePlan, limits maximum: Int? = nil
    ) throws -> DecodedImage {
        try ImageLibrary.start()
        let file = SharedBytes(file)
        var limits = ImagingLimits.none
        if let maximum { limits.maximumSourcePixels = maximum }
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: plan, limits: limits, token: WorkToken()
        ).interleavedInSRGB(token: WorkToken())
    }
}
