import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct JPEGScansTests {
    /// A scan's component, spectral selection, and successive approximation before and after the scan.
    private typealias Script = (component: UInt8, first: UInt8, last: UInt8, before: UInt8, after: UInt8)

    /// The scans of most encoders.
    private static let usual: [Script] = [
        (1, 0, 0, 0, 1), (1, 1, 5, 0, 2), (3, 1, 63, 0, 1), (2, 1, 63, 0, 1), (1, 6, 63, 0, 2), (1, 1, 63, 2, 1),
        (1, 0, 0, 1, 0), (3, 1, 63, 1, 0), (2, 1, 63, 1, 0), (1, 1, 63, 1, 0),
    ]

    @Test(arguments: [(8, 0, 64), (4, 5, 3), (2, 63, 2), (1, 63, 0)])
    func `a level reads only the visible scans`(level: Int, highestStart: Int, minimumBitsBefore: Int) {
        let scans = JPEGScans(shownAt: level)
        #expect(scans.highestStart == highestStart && scans.minimumBitsBefore == minimumBitsBefore)
    }

    @Test(arguments: [1, 2, 4, 8])
    func `an image in scans matches the one without`(level: Int) throws {
        var writer = JPEGWriter(width: 320, height: 240, components: 3)
        writer.sampling = [(2, 2), (1, 1), (1, 1)]
        func decode() throws -> [UInt8] {
            let file = SharedBytes(writer.file { [UInt8($0 * 5), UInt8(100 + $1), UInt8(200 - $0)] })
            return try ImageReading.decode(file, level: level).pixels.array
        }
        let baseline = try decode()
        (writer.isProgressive, writer.scans) = (true, 4)
        #expect(try decode() == baseline)
    }

    @Test(arguments: [1, 2, 4])
    func `missing details of a file are smoothed, as by libvips`(level: Int) throws {
        var writer = JPEGWriter(width: 320, height: 240, components: 3)
        (writer.isProgressive, writer.scans) = (true, 1)
        let means = SharedBytes(writer.file { [UInt8(40 + $0 * 4), UInt8(100 + $1), UInt8(200 - $0)] })
        func decode(_ lane: ImageDecoder.Lane) throws -> DecodedImage {
            try ImageDecoder.decode(
                means, header: .inspect(means), plan: DecodePlan(level: level), limits: .none, token: WorkToken(),
                lane: lane
            ).interleavedInSRGB(token: WorkToken())
        }
        let image = try decode(.planar)
        // Within a block, from 8 × 10 to 8 × 11, luma increases.
        let row = (80 / level..<88 / level).map { Int(image.pixel(x: $0, y: 60 / level)[1]) }
        #expect(Set(row).count > 1)
        let other = try decode(.vips)
        for (one, two) in zip(image.pixels.array, other.pixels.array) { #expect(abs(Int(one) - Int(two)) <= 3) }
    }

    @Test func `an image has all details if each component has each frequency to the last bit`() {
        let header: [UInt8] = [0xFF, 0xD8, 0xFF, 0xC2, 0, 17, 8, 0, 8, 0, 8, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0]
        func isWhole(_ scripts: [Script]) -> Bool {
            SharedBytes(header + scripts.flatMap(Self.scan) + Self.end).withBytes { FoundScans($0).hasAllDetails }
        }
        let means: [Script] = [(1, 0, 0, 1, 0), (2, 0, 0, 0, 0), (3, 0, 0, 0, 0)]
        #expect(isWhole(Self.usual + means))
        #expect(!isWhole(Self.usual))
        for index in 7..<10 {
            var scripts = Self.usual + means
            scripts.remove(at: index)
            #expect(!isWhole(scripts))
        }
        #expect(!isWhole([]))
    }

    private static let end: [UInt8] = [0xFF, 0xD9]

    /// A scan of some data that includes a stuffed byte and a restart marker.
    private static func scan(_ script: Script) -> [UInt8] {
        let bits = script.before << 4 | script.after
        return [0xFF, 0xDA, 0, 8, 1, script.component, 0, script.first, script.last, bits]
            + [1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4]
    }
}
