import Recipes
import Testing

/// A GIF file with meaningless image data.
struct GIFFile {
    /// The position and flags of a frame.
    struct Frame {
        var x = 0
        var y = 0
        var width = 30
        var height = 20
        var flags = 0
        /// Flags of the graphic control extension; nil for none.
        var control: Int?
    }

    var width = 30
    var height = 20
    var flags = 0x80
    var frames = [Frame()]
    var hasTrailer = true

    var bytes: [UInt8] {
        var file = FileBytes(text: "GIF89a")
        file.append(little: width, 2)
        file.append(little: height, 2)
        file.append([UInt8(flags), 0, 0])
        if flags & 0x80 != 0 { file.append([UInt8](repeating: 0x2C, count: 6 << (flags & 7))) }
        for frame in frames {
            if let control = frame.control { file.append([0x21, 0xF9, 4, UInt8(control), 0, 0, 0, 0]) }
            file.append([0x2C])
            for number in [frame.x, frame.y, frame.width, frame.height] { file.append(little: number, 2) }
            file.append([UInt8(frame.flags)])
            if frame.flags & 0x80 != 0 { file.append([UInt8](repeating: 0x3B, count: 6 << (frame.flags & 7))) }
            file.append([2, 3, 0x2C, 0x21, 0x3B, 1, 9, 0])
        }
        if hasTrailer { file.append([0x3B]) }
        return file.bytes
    }
}

struct GIFHeaderTests {
    @Test func `a still`() throws {
        let expected = ImageHeader(format: .gif, storedSize: PixelSize(width: 30, height: 20))
        #expect(try inspect(GIFFile().bytes) == expected)
        #expect(try inspect(GIFFile(flags: 0x87, hasTrailer: false).bytes) == expected)
    }

    @Test(arguments: [1, 2, 65, 20_000])
    func `frames are counted`(count: Int) throws {
        let file = GIFFile(frames: Array(repeating: GIFFile.Frame(flags: 0x81, control: 4), count: count))
        #expect(try inspect(file.bytes).frames == count)
    }

    @Test func `transparency in any frame, interlace of the first`() throws {
        let frames = [GIFFile.Frame(flags: 0x40, control: 0), GIFFile.Frame(control: 1)]
        let header = try inspect(GIFFile(frames: frames).bytes)
        #expect(header.hasAlpha)
        #expect(header.bands == 4)
        #expect(header.isProgressive)
    }

    @Test(arguments: [
        // The first frame does not cover the canvas.
        ([GIFFile.Frame(x: 1)], true), ([GIFFile.Frame(width: 29)], true), ([GIFFile.Frame()], false),
        // There is nothing to restore before the first frame.
        ([GIFFile.Frame(control: 3 << 2), GIFFile.Frame(width: 9)], true),
        ([GIFFile.Frame(control: 3 << 2), GIFFile.Frame()], false),
        ([GIFFile.Frame(control: 3 << 2), GIFFile.Frame(control: 3 << 2), GIFFile.Frame(width: 9)], true),
        ([GIFFile.Frame(), GIFFile.Frame(width: 9, control: 3 << 2), GIFFile.Frame(width: 3)], false),
        ([GIFFile.Frame(control: 1 << 2), GIFFile.Frame(width: 9)], false),
    ])
    func `areas without a frame are transparent`(frames: [GIFFile.Frame], hasAlpha: Bool) throws {
        let header = try inspect(GIFFile(frames: frames).bytes)
        #expect(header.hasAlpha == hasAlpha && header.bands == (hasAlpha ? 4 : 3))
    }

    @Test func `the first frame may enlarge the image, a later one may not`() throws {
        let first = GIFFile.Frame(x: 10, y: 0, width: 40, height: 5)
        let later = GIFFile.Frame(x: 0, y: 0, width: 90, height: 90)
        #expect(try inspect(GIFFile(frames: [first, later]).bytes).size == PixelSize(width: 50, height: 20))
    }

    @Test(arguments: [(640, 480), (800, 600), (0, 0), (65_535, 65_535)])
    func `a monitor's size is not the image's`(width: Int, height: Int) throws {
        #expect(try inspect(GIFFile(width: width, height: height).bytes).size == PixelSize(width: 30, height: 20))
    }

    @Test func `bytes after the last block are ignored, before the first they are not`() throws {
        let file = GIFFile(hasTrailer: false)
        #expect(try inspect(file.bytes + [0, 1, 2]).frames == 1)
        #expect(isDamaged(GIFFile(frames: [], hasTrailer: false).bytes + [0, 1, 2]))
        #expect(isDamaged(GIFFile(frames: []).bytes))
    }

    @Test func `a file truncated before the data of its first frame is damaged`() throws {
        let bytes = GIFFile(hasTrailer: false).bytes
        // After the code size: a length and three bytes of data, a length and one byte, and an empty sub-block.
        for length in 6...bytes.count - 7 {
            #expect(isDamaged(Array(bytes.prefix(length))), "\(length) bytes")
        }
        for length in bytes.count - 6...bytes.count { #expect(try inspect(Array(bytes.prefix(length))).frames == 1) }
    }

    @Test func `a later frame counts once its data begin`() throws {
        let bytes = GIFFile(frames: [GIFFile.Frame(), GIFFile.Frame(control: 4)], hasTrailer: false).bytes
        #expect(try inspect(Array(bytes.dropLast(7))).frames == 1)
        #expect(try inspect(Array(bytes.dropLast(6))).frames == 2)
    }
}
