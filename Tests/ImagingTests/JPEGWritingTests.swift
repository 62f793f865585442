import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

/// The JPEG variants that the service writes.
@Suite(.timeLimit(.minutes(1)))
struct JPEGWritingTests {
    private static let photo = SampleImage.photo(PixelSize(width: 400, height: 300))

    private static func file(
        _ scans: JPEGScanChoice, quality: Int = 80, of image: SampleImage = photo
    ) throws -> SharedBytes {
        try ImageLibrary.start()
        return try ImageEncoder.encode(
            pixels: image.pixels, size: image.size, bands: image.bands, format: .jpeg, quality: quality,
            effort: scans.rawValue
        ).bytes
    }

    /// The marker of a file's frame.
    private static func frame(of file: SharedBytes) -> UInt8? {
        let bytes = file.array
        var place = 2
        while place + 4 <= bytes.count, bytes[place] == 0xFF {
            if (0xC0...0xC2).contains(bytes[place + 1]) { return bytes[place + 1] }
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
        }
        return nil
    }

    private static func pixels(of file: SharedBytes) throws -> [UInt8] {
        let header = try ImageHeader.inspect(file)
        return try ImageDecoder.decode(
            file, header: header, plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken()
        ).interleavedInSRGB(token: WorkToken()).pixels.array
    }

    @Test func `the choice of scans changes the file and no pixel`() throws {
        let files = try JPEGScanChoice.allCases.map { try Self.file($0) }
        let first = try Self.pixels(of: files[0])
        for file in files { #expect(try Self.pixels(of: file) == first) }
        // In the order of the cases: one scan, chosen by size, several scans.
        #expect(files[2].count < files[0].count)
        #expect(files.map(Self.frame) == [0xC0, 0xC2, 0xC2])
    }

    @Test func `a file is written in several scans if that saves bytes`() throws {
        var chosen: Set<UInt8?> = []
        for quality in stride(from: 5, through: 95, by: 10) {
            let (one, several) = try (Self.file(.one, quality: quality), Self.file(.several, quality: quality))
            let file = try Self.file(.bySize, quality: quality)
            #expect(file.array == one.array || file.array == several.array)
            // The choice is made before the bytes exist, so for small files it may be the larger variant.
            #expect(Double(file.count) <= 1.01 * Double(min(one.count, several.count)) + 200)
            chosen.insert(Self.frame(of: file))
        }
        #expect(chosen == [0xC0, 0xC2])
    }

    @Test(arguments: [(1, 1), (7, 9), (8, 8), (17, 1), (1, 33), (250, 131)])
    func `images of any size and sampling round-trip approximately`(width: Int, height: Int) throws {
        let size = PixelSize(width: width, height: height)
        for image in [SampleImage.photo(size), .grayRamp(size), .noise(size, bands: 3), .noise(size, bands: 1)] {
            for quality in [60, 89, 90, 100] {
                for scans in JPEGScanChoice.allCases {
                    let file = try Self.file(scans, quality: quality, of: image)
                    let pixels = try Self.pixels(of: file)
                    #expect(pixels.count == image.pixels.count)
                    let error = zip(pixels, image.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
                    // Noise in single pixels is the worst case for subsampled chroma.
                    let maximum = quality == 100 ? 2 : quality == 90 ? 8 : 60
                    #expect(error <= maximum * pixels.count, "\(size), \(quality): \(error / pixels.count)")
                }
            }
        }
    }

    @Test func `gray images are written in scans, too`() throws {
        let gray = SampleImage.grayRamp(PixelSize(width: 300, height: 200))
        let (one, several) = try (Self.file(.one, of: gray), Self.file(.several, of: gray))
        #expect(Self.frame(of: several) == 0xC2)
        #expect(try Self.pixels(of: one) == Self.pixels(of: several))
    }

    @Test func `a higher quality makes a larger file, and the highest has no quantization`() throws {
        let sizes = try [1, 20, 50, 80, 100].map { try Self.file(.bySize, quality: $0).count }
        #expect(sizes == sizes.sorted() && Set(sizes).count == sizes.count)
        let flat = SampleImage.plain(PixelSize(width: 16, height: 16), [200, 30, 60])
        let pixels = try Self.pixels(of: Self.file(.one, quality: 100, of: flat))
        #expect(zip(pixels, flat.pixels).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
    }
}
