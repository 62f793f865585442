import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// JPEG segments without meaningful entropy-coded data.
struct JPEGFile {
    var width = 300
    var height = 200
    /// Sampling factors of each component.
    var sampling = [0x22, 0x11, 0x11]
    var marker = 0xC0
    var precision = 8
    /// Segments before the frame header.
    var segments: [[UInt8]] = []
    /// Number of components of each scan.
    var scans = [3]

    static func segment(_ marker: Int, _ content: [UInt8]) -> [UInt8] {
        var file = FileBytes()
        file.append(big: 0xFF00 | marker, 2)
        file.append(big: content.count + 2, 2)
        return file.bytes + content
    }

    var bytes: [UInt8] {
        var frame = FileBytes([UInt8(precision)])
        frame.append(big: height, 2)
        frame.append(big: width, 2)
        frame.append(big: sampling.count, 1)
        for (index, factors) in sampling.enumerated() { frame.append([UInt8(index), UInt8(factors), 0]) }
        var file = FileBytes([0xFF, 0xD8])
        for segment in segments { file.append(segment) }
        file.append(JPEGFile.segment(marker, frame.bytes))
        for count in scans {
            let components: [UInt8] = (0..<count).flatMap { [UInt8($0), 0] as [UInt8] }
            file.append(JPEGFile.segment(0xDA, [UInt8(count)] + components + [0, 63, 0]))
            file.append([1, 2, 0xFF, 0x00, 3, 0xFF, 0xD0, 4, 5])
        }
        file.append([0xFF, 0xD9])
        return file.bytes
    }
}

struct JPEGHeaderTests {
    @Test func `a plain photograph`() throws {
        let expected = ImageHeader(
            format: .jpeg, storedSize: PixelSize(width: 300, height: 200), isChromaSubsampled: true)
        #expect(try inspect(JPEGFile().bytes) == expected)
    }

    @Test(arguments: [([0x11], 1, false), ([0x11, 0x11, 0x11], 3, false), ([0x21, 0x11, 0x11], 3, false)])
    func `components and sampling`(sampling: [Int], bands: Int, isSubsampled: Bool) throws {
        let header = try inspect(JPEGFile(sampling: sampling, scans: [sampling.count]).bytes)
        #expect(header.bands == bands)
        #expect(header.isChromaSubsampled == isSubsampled)
    }

    @Test(arguments: [0, 1])
    func `a segment with an invalid length is empty`(length: UInt8) throws {
        let note: [UInt8] = [0xFF, 0xFE, 0, length]
        let file = JPEGFile(segments: [note, JPEGFile.segment(0xE3, [1, 2, 3]), note]).bytes
        #expect(try inspect(file).size == PixelSize(width: 300, height: 200))
        let photo = ImageFixture.jpeg.array
        let noted = SharedBytes(photo[0..<2] + note + photo[2...])
        #expect(
            try ImageReading.decode(noted).pixels.array == ImageReading.decode(ImageFixture.jpeg.bytes).pixels.array)
    }

    @Test func `four components are CMYK without alpha`() throws {
        let header = try inspect(JPEGFile(sampling: [0x11, 0x11, 0x11, 0x11], scans: [4]).bytes)
        #expect(header.bands == 4)
        #expect(!header.hasAlpha)
    }

    @Test func `a progressive image is detected`() throws {
        let header = try inspect(JPEGFile(marker: 0xC2, scans: [3, 1, 1, 1]).bytes)
        #expect(header.isProgressive)
    }

    @Test(arguments: 1...8, [true, false])
    func `orientation swaps the sides`(orientation: Int, isLittleEndian: Bool) throws {
        let data = Array("Exif\0\0".utf8) + exif(orientation: orientation, isLittleEndian: isLittleEndian)
        let header = try inspect(JPEGFile(segments: [JPEGFile.segment(0xE1, data)]).bytes)
        #expect(header.orientation.exif == orientation)
        #expect(header.storedSize == PixelSize(width: 300, height: 200))
        #expect(header.size.width == (orientation < 5 ? 300 : 200))
    }

    @Test func `a profile in parts is counted together`() throws {
        let part = JPEGFile.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 2] + [UInt8](repeating: 7, count: 100))
        #expect(try inspect(JPEGFile(segments: [part, part]).bytes).profileByteCount == 200)
    }

    @Test func `a thumbnail in the metadata is not the image`() throws {
        let small = JPEGFile(width: 10, height: 10).bytes
        let header = try inspect(JPEGFile(segments: [JPEGFile.segment(0xE1, small)]).bytes)
        #expect(header.storedSize == PixelSize(width: 300, height: 200))
    }

    @Test func `fill bytes and garbage between segments are skipped`() throws {
        let header = try inspect(JPEGFile(segments: [[0xFF, 0xFF, 0xFF], [0, 1, 2]]).bytes)
        #expect(header.storedSize == PixelSize(width: 300, height: 200))
    }

    @Test(arguments: [[0xFF, 0xFF], [0xFF, 0x00], [0xFF, 0xD7], [0xFF, 0x01, 0x20]] as [[UInt8]])
    func `a scan of only stuffing is parsed in time`(stuffing: [UInt8]) throws {
        var bytes = JPEGFile(marker: 0xC2, scans: [3, 1]).bytes
        bytes.insert(contentsOf: Array(repeating: stuffing, count: 1 << 20).joined(), at: bytes.count - 2)
        let start = threadTime
        #expect(try inspect(bytes).isProgressive)
        #expect(threadTime - start < .seconds(2))
    }

    @Test(arguments: [0xC0, 0xC2])
    func `a hundred scans are read, and no more`(marker: Int) throws {
        var file = JPEGFile(marker: marker, scans: Array(repeating: 1, count: 100))
        #expect(try inspect(file.bytes).size.width == 300)
        file.scans.append(1)
        #expect(isDamaged(file.bytes))
    }

    @Test func `an undecodable file is rejected`() {
        #expect(isDamaged(JPEGFile(width: 0).bytes))
        #expect(isDamaged(JPEGFile(height: 0).bytes))
        #expect(isDamaged(JPEGFile(marker: 0xC3).bytes))
        #expect(isDamaged(JPEGFile(precision: 12).bytes))
        #expect(isDamaged(JPEGFile(sampling: [0x11, 0x11], scans: [2]).bytes))
        #expect(isDamaged(JPEGFile(scans: []).bytes))
        #expect(isDamaged(JPEGFile(segments: [[0xFF, 0xD8]]).bytes))
        #expect(isDamaged(JPEGFile(segments: [[0xFF, 0xE0, 0xFF, 0xFF]]).bytes))
        #expect(isDamaged(JPEGFile(scans: [0]).bytes) && isDamaged(JPEGFile(marker: 0xC2, scans: [0, 3]).bytes))
    }

    @Test func `a truncated header is damaged`() {
        let bytes = JPEGFile().bytes
        let scanStart = bytes.count - 25
        for length in 3..<scanStart {
            #expect(isDamaged(Array(bytes.prefix(length))), "\(length) bytes")
        }
    }
}
