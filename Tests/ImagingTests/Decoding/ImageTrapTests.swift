import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Files that overload careless decoders are rejected by their headers, costed, or trimmed.
@Suite(.timeLimit(.minutes(1)))
struct ImageTrapTests {
    @Test(arguments: [ImageTrap.webpCanvas, .pngGiant, .jpegPatchedSize])
    func `a huge image in few bytes has too many pixels`(trap: ImageTrap) throws {
        let header = try ImageHeader.inspect(trap.bytes)
        #expect(header.storedSize.area > ImagingLimits().maximumSourcePixels)
        #expect(throws: ImagingError.tooManyPixels(header.storedSize)) { try ImageReading.decode(trap.bytes) }
    }

    @Test func `thousands of scans are rejected by the header parser`() {
        #expect {
            try ImageHeader.inspect(ImageTrap.jpegScans.bytes)
        } throws: {
            if case ImagingError.cannotDecode = $0 { true } else { false }
        }
    }

    @Test(arguments: [ImageTrap.gifFrames, .webpFrames])
    func `of thousands of frames the first is decoded, or the first ones`(trap: ImageTrap) throws {
        try ImageLibrary.start()
        let bytes = trap.bytes
        let header = try ImageHeader.inspect(bytes)
        #expect(header.frames == 20_000)
        let moving = try ImageDecoder.decode(
            bytes, header: header, plan: DecodePlan(isAnimated: true, maximumFrames: 256), limits: ImagingLimits(),
            token: WorkToken())
        #expect(moving.frames == 256 && moving.delays.prefix(4) == [100, 200, 300, 300] && moving.loop == 5)
        #expect(moving.isClose(x: 9, y: 9, frame: 255, to: [0, 0, 255] + (moving.hasAlpha ? [255] : [])))
        let first = try ImageDecoder.decode(
            bytes, header: header, plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken())
        #expect(first.frames == 1 && first.size == ImageFixture.size)
    }

    @Test func `a multi-scan image costs all its coefficients`() throws {
        let size = PixelSize(width: 1_600, height: 1_200)
        let header = try ImageHeader.inspect(SharedBytes(ImageTrap.progressive(size)))
        #expect(header.isProgressive && header.isChromaSubsampled)
        for level in [1, 2, 4, 8] { #expect(header.cost(of: DecodePlan(level: level)) >= 3 * size.area) }
    }

    @Test(arguments: [ImageTrap.pngProfile, .pngText, .jpegProfile])
    func `an image with an enormous profile or text is decoded`(trap: ImageTrap) throws {
        #expect(try ImageReading.decode(trap.bytes).size == ImageFixture.size)
    }

    @Test(arguments: [ImageTrap.gifColumn, .pngColumn])
    func `a long column is decoded`(trap: ImageTrap) throws {
        try ImageLibrary.start()
        #expect(try ImageReading.decode(trap.bytes).size == PixelSize(width: 1, height: 65_400))
    }
}
