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
