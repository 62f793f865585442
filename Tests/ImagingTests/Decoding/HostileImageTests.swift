import Imaging
import Memory
import Recipes
import TestSupport
import Testing

@testable import Coordination

@Suite(.timeLimit(.minutes(1)))
struct HostileImageTests {
    @Test(arguments: [ImageFixture.empty, .text])
    func `a file that is not an image has its own error`(fixture: ImageFixture) {
        #expect(throws: ImagingError.notAnImage) { try ImageReading.decode(fixture.bytes) }
    }

    @Test(arguments: [ImageFixture.jpegTruncated, .pngTruncated, .webpTruncated, .gifTruncated, .jpegHeadOnly])
    func `a truncated file cannot be decoded`(fixture: ImageFixture) {
        #expect(isUndecodable(fixture.bytes))
    }

    @Test(arguments: [ImageFormat.jpeg, .png, .webp], [0.2, 0.5, 0.9, 0.99])
    func `a truncated image cannot be decoded`(format: ImageFormat, share: Double) {
        let whole = ImageFixture.photo(width: 120, height: 90, format: format).array
        #expect(isUndecodable(SharedBytes(whole.prefix(Int(Double(whole.count) * share)))))
    }

    @Test func `a JPEG XL image with more layers than its cost covers is rejected before the decode`() throws {
        try ImageLibrary.start()
        // From libjxl 0.7.0: 8×8 pixels of one color, and a frame without a duration; byte 3 says if more follow.
        let start: [UInt8] = [0xFF, 0x0A, 0x41, 0x40, 0x24]
        let rest: [UInt8] = [
            0, 0x40, 0, 0x4B, 0x12, 0xA5, 0x42, 5, 0x52, 0x2C, 0x5B, 0xFD, 0x0F, 0x80, 0xE9, 0x30, 0xAB, 9, 5,
        ]
        // The header of a frame of the same size that is only a reference for others.
        let reference: [UInt8] = [0x0C, 0x0A, 2, 8, 1]
        func file(layers: Int = 1, references: Int = 0, isSplit: Bool = false) -> SharedBytes {
            let hidden =
                [[UInt8]](repeating: [8, 2, 2] + rest, count: layers - 1)
                + [[UInt8]](repeating: reference + rest, count: references)
            let codestream = start + (hidden + [[8, 2, 1] + rest]).flatMap { $0 }
            let parts = stride(from: 0, to: codestream.count, by: 9).map { codestream[$0...].prefix(9) }
            let boxes = parts.flatMap { [0, 0, 0, UInt8($0.count + 12)] + Array("jxlp".utf8) + [0, 0, 0, 0] + $0 }
            let type: [UInt8] = [0, 0, 0, 20] + Array("ftypjxl \0\0\0\0jxl ".utf8)
            let container = [0, 0, 0, 12] + Array("JXL ".utf8) + [0x0D, 0x0A, 0x87, 0x0A] + type + boxes
            return SharedBytes(isSplit ? container : codestream)
        }
        func decode(_ file: SharedBytes, header: ImageHeader? = nil) throws -> PixelSize {
            try ImageDecoder.decode(
                file, header: header ?? .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken()
            ).size
        }
        let rejection = ImagingError.cannotDecode(detail: "the image has too many layers")
        #expect(try decode(file(layers: 8)) == PixelSize(width: 8, height: 8))
        let header = try ImageHeader.inspect(file())
        for isSplit in [false, true] {
            let maximum = file(references: 7, isSplit: isSplit)
            #expect(try decode(maximum) == PixelSize(width: 8, height: 8))
            for layered in [file(layers: 9, isSplit: isSplit), file(references: 8, isSplit: isSplit)] {
                #expect(throws: rejection) { try ImageHeader.inspect(layered) }
                // The decoder checks again, because a profile may have hidden the layers from the header walk.
                #expect(throws: rejection) { try decode(layered, header: header) }
            }
        }
    }

    @Test func `a JPEG of thousands of scans is rejected at once`() {
        #expect(isUndecodable(ImageFixture.jpegManyScans.bytes))
    }

    @Test(arguments: [ImageFixture.jpegGiant, .pngGiant, .webpGiant])
    func `huge images are rejected by their headers`(fixture: ImageFixture) throws {
        let bytes = fixture.bytes
        let header = try ImageHeader.inspect(bytes)
        #expect(header.storedSize.area > ImagingLimits().maximumSourcePixels)
        let start = threadTime
        #expect(throws: ImagingError.tooManyPixels(header.storedSize)) { try ImageReading.decode(bytes) }
        #expect(threadTime - start < .milliseconds(500))
    }

    @Test func `a header that disagrees with the loader is not trusted`() throws {
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

    @Test func `frames, pages and formats beyond the limits each have their error`() throws {
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

    @Test func `a canceled decode reports its cancellation`() throws {
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

    @Test func `a decode past its deadline reports it`() throws {
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
