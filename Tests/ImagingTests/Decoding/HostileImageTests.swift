import Imaging
import Memory
import TestSupport
import Testing

@testable import Coordination

@Suite(.timeLimit(.minutes(1)))
struct HostileImageTests {
    @Test(arguments: [ImageFixture.empty, .text])
    func `what is no image is told apart`(fixture: ImageFixture) {
        #expect(throws: ImagingError.notAnImage) { try ImageReading.decode(fixture.bytes) }
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .pngTruncated, .webpTruncated, .gifTruncated, .jpegHeadOnly])
    func `what is cut short cannot be decoded`(fixture: ImageFixture) {
        #expect(isUndecodable(fixture.bytes))
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp], [0.2, 0.5, 0.9, 0.99])
    func `an image truncated anywhere cannot be decoded`(format: ImageFormat, share: Double) {
        let whole = ImageFixture.photo(width: 120, height: 90, format: format).array
        #expect(isUndecodable(SharedBytes(whole.prefix(Int(Double(whole.count) * share)))))
    }

    @Test func `a JPEG XL image of more layers than are in its cost is refused before they are decoded`() throws {
        try ImageLibrary.start()
        // libjxl 0.7.0: 8×8 pixels of one color, and a frame without a time; its third byte says whether others follow.
        let start: [UInt8] = [0xFF, 0x0A, 0x41, 0x40, 0x24]
        let rest: [UInt8] = [
            0, 0x40, 0, 0x4B, 0x12, 0xA5, 0x42, 5, 0x52, 0x2C, 0x5B, 0xFD, 0x0F, 0x80, 0xE9, 0x30, 0xAB, 9, 5,
        ]
        func decode(layers: Int) throws -> PixelSize {
            let frame = [8, 2, 2] + rest
            let frames = [[UInt8]](repeating: frame, count: layers - 1) + [[8, 2, 1] + rest]
            let file = SharedBytes(start + frames.flatMap { $0 })
            return try ImageDecoder.decode(
                file, header: .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken()
            ).size
        }
        #expect(try decode(layers: 8) == PixelSize(width: 8, height: 8))
        #expect(throws: ImagingError.cannotDecode(detail: "the image has too many layers")) { try decode(layers: 9) }
    }

    @Test func `a JPEG of thousands of scans is refused at once`() {
        #expect(isUndecodable(ImageFixture.jpegManyScans.bytes))
    }

    @Test(arguments: [ImageFixture.jpegGiant, .pngGiant, .webpGiant])
    func `giants are refused by their headers`(fixture: ImageFixture) throws {
        let bytes = fixture.bytes
        let header = try ImageHeader.inspect(bytes)
        #expect(header.storedSize.area > ImagingLimits().maximumSourcePixels)
        let start = threadTime
        #expect(throws: ImagingError.tooManyPixels(header.storedSize)) { try ImageReading.decode(bytes) }
        #expect(threadTime - start < .milliseconds(500))
    }

    @Test func `a header that disagrees with the loader is not believed`() throws {
        try ImageLibrary.start()
        let bytes = ImageFixture.png.bytes
        let header = ImageHeader(format: .png, storedSize: PixelSize(width: 64, height: 47))
        #expect {
            try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken())
        } throws: {
            if case ImagingError.cannotDecode = $0 { true } else { false }
        }
    }

    @Test func `frames, pages and formats beyond the limits are told apart`() throws {
        try ImageLibrary.start()
        let bytes = ImageFixture.gifAnimated.bytes
        let header = try ImageHeader.inspect(bytes)
        var limits = ImagingLimits()
        limits.maximumSourcePixels = 2 * header.size.area
        #expect(throws: ImagingError.tooManyPixels(header.size, frames: 3)) {
            try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(isAnimated: true), limits: limits, token: WorkToken())
        }
        #expect(throws: ImagingError.noSuchPage(3, pages: 3)) {
            try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(page: 3), limits: limits, token: WorkToken())
        }
        limits.sourceFormats = [.jpeg]
        #expect(throws: ImagingError.formatNotAccepted(.gif)) {
            try ImageDecoder.decode(bytes, header: header, plan: DecodePlan(), limits: limits, token: WorkToken())
        }
    }

    @Test func `a cancelled decode says that it was cancelled`() throws {
        try ImageLibrary.start()
        let bytes = ImageFixture.jpeg.bytes
        let header = try ImageHeader.inspect(bytes)
        let token = WorkToken()
        token.cancel()
        #expect(throws: CancellationError.self) {
            try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(), limits: ImagingLimits(), token: token)
        }
    }

    @Test func `a decode out of time says so`() throws {
        try ImageLibrary.start()
        let bytes = ImageFixture.jpeg.bytes
        let header = try ImageHeader.inspect(bytes)
        let token = WorkToken()
        token.start(timeLimit: .zero)
        #expect(throws: DeadlineExceeded.self) {
            try ImageDecoder.decode(
                bytes, header: header, plan: DecodePlan(), limits: ImagingLimits(), token: token)
        }
    }

    private func isUndecodable(_ bytes: SharedBytes) -> Bool {
        do {
            _ = try ImageReading.decode(bytes)
            return false
        } catch ImagingError.cannotDecode {
            return true
        } catch {
            return false
        }
    }
}
