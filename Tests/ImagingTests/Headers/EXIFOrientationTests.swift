import Recipes
import TestSupport
import Testing

struct EXIFOrientationTests {
    private func orientation(_ data: [UInt8]) throws -> QuarterTurn {
        try inspect(JPEGFile(segments: [JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + data)]).bytes).orientation
    }

    @Test(arguments: [0, 9, 255, 65_535])
    func `a meaningless value is upright`(value: Int) throws {
        #expect(try orientation(exif(orientation: value)) == 1)
    }

    @Test func `an image with damaged metadata is decoded`() throws {
        let data = exif(orientation: 6)
        for length in 0..<data.count - 8 {
            #expect(try orientation(Array(data.prefix(length))) == 1)
        }
        for index in 0..<data.count {
            var broken = data
            broken[index] ^= 0xFF
            _ = try orientation(broken)
        }
    }

    @Test func `the first block counts`() throws {
        let blocks = [6, 3].map { JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + exif(orientation: $0)) }
        #expect(try inspect(JPEGFile(segments: blocks).bytes).orientation == 6)
    }
}
