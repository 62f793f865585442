import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Bits of a JPEG XL codestream.
private struct JXLFile {
    private var bits: [Int] = []

    mutating func put(_ value: Int, _ count: Int) { bits += (0..<count).map { value >> $0 & 1 } }

    /// Writes a side that is not a multiple of 8.
    mutating func side(_ value: Int) {
        put(value > 512 ? 2 : 0, 2)
        put(value - 1, value > 512 ? 18 : 9)
    }

    /// The start of the codestream, padded.
    var bytes: [UInt8] {
        let whole = bits + [Int](repeating: 0, count: 128)
        return [0xFF, 0x0A]
            + stride(from: 0, to: whole.count - 7, by: 8).map { start in
                UInt8((0..<8).reduce(0) { $0 | whole[start + $1] << $1 })
            }
    }

    /// Completes the metadata and appends a reference-only modular frame of five sections and a visible frame.
    ///
    /// - Parameter cropSide: Above 2,303; nil for a frame as large as the image.
    mutating func frames(patches: Bool, cropSide: Int? = nil) {
        endMetadata()
        frame(kind: 2, patches: false)
        put(0, 1)
        align()
        for _ in 0..<5 { put(3 << 2, 12) }
        align()
        put(0, 5 * 3 * 8)
        frame(kind: 0, patches: patches, cropSide: cropSide)
    }

    /// Completes the metadata and appends layers of 63,638 empty sections below the last frame.
    mutating func layers(_ count: Int) {
        endMetadata()
        for _ in 0..<count {
            // A regular modular frame with groups of 128 pixels in eleven passes.
            put(0b100_0, 4)
            put(0, 6)
            put(0b111_11, 5)
            put(0, 2 + 2 * 10)
            // A layer of 9,728×9,728 pixels, which covers a part of the image.
            put(1, 1)
            put(0, 20)
            for _ in 0..<2 { put((9_728 - 2_304) << 2 | 2, 16) }
            // The layer replaces the first slot, is not the last frame, and is saved in the second slot.
            put(0b01_0_00_00, 7)
            put(0b00100, 5)
            put(0, 1)
            align()
            for _ in 0..<63_638 { put(0, 12) }
            align()
        }
        frame(kind: 0, patches: false)
    }

    private mutating func endMetadata() {
        // White point, primaries, curve and intent are the first ones of their lists; the rest has default values.
        put(0, 9)
        put(1, 1)
        put(0, 2)
        put(1, 1)
        align()
    }

    private mutating func frame(kind: Int, patches: Bool, cropSide: Int? = nil) {
        put(0, 1)
        put(kind, 2)
        put(1, 1)
        if patches { put(0b000101, 6) } else { put(0, 2) }
        put(0, 2)
        put(1, 2)
        // One pass, cropped, replaces colors, last frame; or no crop, saved in the second slot before color conversion.
        if let cropSide {
            put(0b100, 3)
            put(0, 2 * 10)
            for _ in 0..<2 {
                put(2, 2)
                put(cropSide - 2_304, 14)
            }
            put(0b100, 3)
        } else if kind == 0 {
            put(0b100000, 6)
        } else {
            put(0b1010, 4)
        }
        // No name, the default filters.
        put(0b00100, 5)
    }

    private mutating func align() { bits += [Int](repeating: 0, count: (8 - bits.count % 8) % 8) }

    /// 300×200 if `side` is nil.
    init(
        side: Int? = nil, orientation: Int = 1, depth: (form: Int, bits: Int) = (0, 8), channels: [Int] = [],
        isGray: Bool = false,
        hasICC: Bool = false
    ) {
        put(0, 1)
        self.side(side ?? 200)
        put(0, 3)
        self.side(side ?? 300)
        put(0, 1)
        put(1, 1)
        put(orientation - 1, 3)
        put(0, 3)
        put(0, 1)
        put(depth.form, 2)
        if depth.form == 3 { put(depth.bits - 1, 6) }
        put(1, 1)
        switch channels.count {
        case 0, 1: put(channels.count, 2)
        default:
            put(2, 2)
            put(channels.count - 2, 4)
        }
        for kind in channels {
            put(0, 1)
            // An enumerated value from 2 to 17.
            put(kind < 2 ? kind : 2, 2)
            if kind >= 2 { put(kind - 2, 4) }
            put(0, 3)
            put(0, 2)
            // A name of three letters.
            put(1, 2)
            put(3, 4)
            put(0x434241, 24)
            if kind == 0 { put(0, 1) }
            if kind == 2 { put(0, 64) }
            if kind == 5 { put(0, 2) }
        }
        put(1, 1)
        put(0, 1)
        put(hasICC ? 1 : 0, 1)
        put(isGray ? 1 : 0, 2)
    }
}

struct JXLHeaderTests {
    private let size = PixelSize(width: 300, height: 200)

    private func boxes(_ stream: [UInt8], parts: Int) -> [UInt8] {
        let start: [UInt8] = [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]
        let kind = HEIFBox.box("ftyp", Array("jxl \0\0\0\0jxl ".utf8)) + HEIFBox.box("Exif", [1, 2, 3])
        if parts == 1 { return start + kind + HEIFBox.box("jxlc", stream) }
        let length = (stream.count + parts - 1) / parts
        return start + kind
            + (0..<parts).flatMap { index in
                let part = stream[min(index * length, stream.count)..<min((index + 1) * length, stream.count)]
                return HEIFBox.box("jxlp", [0, 0, 0, UInt8(index)] + part)
            }
    }

    @Test(arguments: 1...8)
    func `the codestream has the size and orientation`(orientation: Int) throws {
        let header = try inspect(JXLFile(orientation: orientation).bytes)
        #expect(header.format == .jxl && header.storedSize == size && header.orientation.exif == orientation)
        #expect(header.bands == 3 && !header.hasAlpha && header.bitDepth == 8 && header.frames == 1)
    }

    @Test(arguments: [1, 2, 3, 7])
    func `a codestream may be in boxes, in parts of any length`(parts: Int) throws {
        let stream = JXLFile(orientation: 5, channels: [0]).bytes
        #expect(try inspect(boxes(stream, parts: parts)) == inspect(stream))
    }

    @Test(
        arguments: [
            ([], false, 3, 60_000), ([0], false, 4, 80_000), ([], true, 1, 60_000), ([0], true, 2, 80_000),
            ([1], false, 3, 80_000), ([2, 0], false, 4, 100_000), ([5, 3, 16], false, 3, 120_000),
        ] as [([Int], Bool, Int, Int)])
    func `channels besides colors are alpha, or a cost`(channels: [Int], isGray: Bool, bands: Int, area: Int) throws {
        let header = try inspect(JXLFile(channels: channels, isGray: isGray).bytes)
        #expect(header.bands == bands && header.hasAlpha == (bands % 2 == 0) && header.work.area == area)
    }

    @Test(arguments: [((0, 8), 8), ((1, 10), 10), ((2, 12), 12), ((3, 16), 16), ((3, 1), 8)] as [((Int, Int), Int)])
    func `the depth is read`(depth: (Int, Int), expected: Int) throws {
        #expect(try inspect(JXLFile(depth: depth).bytes).bitDepth == expected)
    }

    @Test(arguments: [1, 7])
    func `patches are expensive, and so is a profile that hides them`(parts: Int) throws {
        func isExpensive(_ file: JXLFile) throws -> Bool {
            try inspect(boxes(file.bytes, parts: parts)).timeCost(of: DecodePlan()).isExpensive
        }
        var (plain, patched) = (JXLFile(), JXLFile())
        plain.frames(patches: false)
        patched.frames(patches: true)
        #expect(try !isExpensive(plain) && isExpensive(patched) && isExpensive(JXLFile(hasICC: true)))
    }

    @Test(arguments: [1, 7])
    func `a frame that is much larger than its image is rejected`(parts: Int) throws {
        var file = JXLFile()
        file.frames(patches: false, cropSide: 4_000)
        #expect(isDamaged(boxes(file.bytes, parts: parts)))
    }

    @Test(arguments: [1, 2])
    func `the sections of all layers have a common limit`(layers: Int) {
        var file = JXLFile(side: 200_001)
        file.layers(layers)
        #expect(isDamaged(file.bytes) == (layers == 2))
    }

    @Test func `a codestream after a length of 64 bits is decoded`() throws {
        try ImageLibrary.start()
        func decode(_ file: [UInt8]) throws -> [UInt8] {
            let file = SharedBytes(file)
            return try ImageDecoder.decode(
                file, header: .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken()
            ).pixels.array
        }
        let plain = ImageFixture.file(.quarters(ImageFixture.size), as: .jxl, quality: 90)
        let start = try #require(plain.indices.first { plain[$0...].starts(with: [0xFF, 0x0A]) })
        let stream = plain[start...]
        let kind = HEIFBox.box("JXL ", [0x0D, 0x0A, 0x87, 0x0A]) + HEIFBox.box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
        let long = [0, 0, 0, 1] + Array("jxlc".utf8) + 0.bigEndian32 + (16 + stream.count).bigEndian32 + stream
        #expect(try decode(kind + long) == decode(plain))
        #expect(try decode(kind + HEIFBox.box("jxlc", Array(stream))) == decode(plain))
    }

    @Test func `CMYK and too many channels are rejected`() {
        #expect(isDamaged(JXLFile(channels: [4]).bytes))
        #expect(isDamaged(JXLFile(channels: [Int](repeating: 1, count: 17)).bytes))
        #expect(!isDamaged(JXLFile(channels: [Int](repeating: 1, count: 16)).bytes))
    }

    @Test(arguments: [1, 2, 3, 4])
    func `the encoder's files are readable`(bands: Int) throws {
        let image = SampleImage.plain(PixelSize(width: 70, height: 1_234), [UInt8](repeating: 9, count: bands))
        let header = try inspect(ImageFixture.file(image, as: .jxl))
        #expect(header.storedSize == image.size && header.bands == bands && header.orientation == 1)
    }

    @Test func `a truncated or corrupted file is harmless`() {
        for file in [JXLFile(orientation: 3, channels: [0, 2]).bytes, boxes(JXLFile(channels: [5]).bytes, parts: 2)] {
            for index in file.indices {
                _ = try? inspect(Array(file.prefix(index)))
                for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var changed = file
                    changed[index] = byte
                    _ = try? inspect(changed)
                }
            }
        }
    }
}
