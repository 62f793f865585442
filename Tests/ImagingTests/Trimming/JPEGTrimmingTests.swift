import Memory
import TestSupport
import Testing

@testable import Imaging
@testable import Recipes

struct JPEGTrimmingTests {
    private let turned = JPEGFile.segment(0xE1, Array("Exif\0\0".utf8) + exif(orientation: 6))
    private let adobe = JPEGFile.segment(0xEE, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])
    private let empty = [0xE1, 0xE9, 0xED, 0xEE, 0xFE].map { JPEGFile.segment($0, []) }
    private let long = JPEGFile.segment(0xFE, [UInt8](repeating: 65, count: 65_533))

    private func profile(bytes count: Int = 9) -> [UInt8] {
        JPEGFile.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + [UInt8](repeating: 7, count: count))
    }

    private func trim(_ bytes: SharedBytes) throws -> SharedBytes {
        JPEGTrimmer.trim(bytes, header: try ImageHeader.inspect(bytes))
    }

    private func trim(_ file: JPEGFile) throws -> [UInt8] {
        try trim(SharedBytes(file.bytes)).array
    }

    @Test func `common metadata is not worth a copy`() throws {
        let bytes = SharedBytes(JPEGFile(segments: [turned, profile(), adobe, long, long, long] + empty).bytes)
        #expect(try trim(bytes) === bytes)
    }

    @Test func `masses of empty segments are removed, colors stay`() throws {
        let many = Array(repeating: empty, count: 13).flatMap { $0 }
        let file = JPEGFile(segments: [turned] + many + [profile(), adobe] + many + [adobe])
        #expect(try trim(file) == JPEGFile(segments: [profile(), adobe]).bytes)
    }

    @Test func `metadata of an unusual length is removed`() throws {
        #expect(try trim(JPEGFile(segments: Array(repeating: long, count: 5))) == JPEGFile().bytes)
    }

    @Test func `an enormous profile is removed, and one with endless parts`() throws {
        let enormous = Array(repeating: profile(bytes: 65_519), count: 65)
        #expect(try trim(JPEGFile(segments: enormous)) == JPEGFile().bytes)
        let endless = Array(repeating: profile(bytes: 0), count: 255 + 65)
        #expect(try trim(JPEGFile(segments: endless)) == JPEGFile(segments: Array(endless.prefix(255))).bytes)
    }

    @Test func `masses between the scans are removed too`() throws {
        var file = JPEGFile(marker: 0xC2, scans: [3, 1]).bytes
        let scan = try #require(file.indices.last { file[$0] == 0xFF && file[$0 + 1] == 0xDA })
        let whole = file
        file.insert(contentsOf: Array(repeating: empty, count: 14).flatMap { $0 }.flatMap { $0 }, at: scan)
        #expect(try trim(SharedBytes(file)).array == whole)
    }

    @Test func `bytes between a removed segment and the next marker are removed with it`() throws {
        let stray: [UInt8] = [1, 2, 3]
        let file = JPEGFile(segments: Array(repeating: long + stray, count: 5))
        #expect(try trim(file) == JPEGFile().bytes)
    }

    @Test func `a file full of segments is decoded, upright, as if there were none`() throws {
        let plain = ImageFixture.jpegOrientation6.array
        let full = plain[0..<2] + Array(repeating: empty, count: 1_000).flatMap { $0 }.flatMap { $0 } + plain[2...]
        let expected = try ImageReading.decode(SharedBytes(plain))
        #expect(try ImageReading.decode(SharedBytes(full)).pixels.array == expected.pixels.array)
    }
}
