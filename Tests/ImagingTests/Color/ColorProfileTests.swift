import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct ColorProfileTests {
    private static let wide = [[0.6097, 0.3111, 0.0195], [0.2053, 0.6257, 0.0609], [0.1492, 0.0632, 0.7446]]

    @Test(arguments: [ICCWriter.Curve.gamma(563), .standard, .standardTable(64), .standardTable(65)])
    func `a written profile's numbers read back the same`(curve: ICCWriter.Curve) throws {
        let colors = try colors(ICCWriter.profile(primaries: Self.wide, curve: curve))
        #expect(colors.primaries.count == 3 && colors.curves.count == 3)
        #expect(ColorProfile(colors.file) == colors)
        #expect(colors.file.count == colors.fileByteCount)
    }

    @Test(arguments: [false, true])
    func `gray has one curve and no primaries`(connectsByLab: Bool) throws {
        let colors = ColorProfile(
            majorVersion: 2, connectsByLab: connectsByLab, primaries: [], curves: [.table([0, 20_000, 65_535])])
        #expect(ColorProfile(colors.file) == colors)
        #expect(colors.file.count == colors.fileByteCount)
        #expect(!colors.isSRGB)
    }

    @Test(arguments: [ICCWriter.Curve.gamma(563), .standard, .standardTable(1_024)])
    func `Little CMS has the same result for the parsed numbers as for the original profile`(
        curve: ICCWriter.Curve
    ) throws {
        try ImageLibrary.start()
        let file = ICCWriter.profile(primaries: Self.wide, curve: curve)
        let size = PixelSize(width: 64, height: 48)
        let pixels = SharedBytes((0..<size.area * 3).map { UInt8(truncatingIfNeeded: $0 &* 37) })
        func converted(_ profile: SharedBytes) throws -> [UInt8] {
            try unsafe pixels.withUnsafeBytes { bytes in
                let image = try unsafe VipsImage.wrapping(bytes, width: size.width, height: size.height, bands: 3)
                return try image.profiled(profile).convertedByProfile().pixels(token: WorkToken()).array
            }
        }
        let expected = try converted(SharedBytes(file))
        #expect(expected != pixels.array)
        #expect(try converted(colors(file).file) == expected)
    }

    @Test func `a profile with a table, or of CMYK, is applied by Little CMS`() {
        var withTable = ICCWriter.profile(primaries: Self.wide)
        // The second tag's name in the tag table.
        withTable.replaceSubrange(144..<148, with: Array("A2B0".utf8))
        #expect(ColorProfile(SharedBytes(withTable)) == nil)
        var cmyk = ICCWriter.profile(primaries: Self.wide)
        cmyk.replaceSubrange(16..<20, with: Array("CMYK".utf8))
        #expect(ColorProfile(SharedBytes(cmyk)) == nil)
    }

    @Test func `a photograph with a profile for Little CMS is converted during the decode`() throws {
        try ImageLibrary.start()
        var profile = ICCWriter.profile(primaries: Self.wide, curve: .gamma(563))
        profile.replaceSubrange(144..<148, with: Array("A2B1".utf8))
        let file = SharedBytes(JPEGWriter.profiled(ImageFixture.photo(width: 320, height: 240).array, profile))
        let image = try ImageDecoder.decode(
            file, header: .inspect(file), plan: DecodePlan(), limits: ImagingLimits(), token: WorkToken())
        #expect(!image.isPlanar && image.profile == nil)
    }

    private func colors(_ file: [UInt8]) throws -> ColorProfile {
        try #require(ColorProfile(SharedBytes(file)))
    }
}
