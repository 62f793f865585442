import Imaging
import Testing

/// An AVIF or HEIC file's boxes as far as they describe the primary item.
struct HEIFFile {
    var brands = ["avif", "mif1"]
    /// The properties of the file, each a whole box.
    var properties = [HEIFFile.size(300, 200)]
    /// Which of them the primary item has, from 1.
    var positions = [1]
    var hasPrimary = true
    /// Whether positions take two bytes and items four.
    var isLong = false

    static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        var file = FileBytes()
        file.append(big: content.count + 8, 4)
        file.append(text: type)
        return file.bytes + content
    }

    static func numbers(_ values: [Int]) -> [UInt8] {
        var file = FileBytes()
        for value in values { file.append(big: value, 4) }
        return file.bytes
    }

    static func size(_ width: Int, _ height: Int) -> [UInt8] { box("ispe", numbers([0, width, height])) }

    static func aperture(_ width: Int, _ height: Int) -> [UInt8] {
        box("clap", numbers([width, 1, height, 1, 0, 1, 0, 1]))
    }

    static func rotation(_ quarters: UInt8) -> [UInt8] { box("irot", [quarters]) }

    static func mirror(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }

    static func depths(_ values: [UInt8]) -> [UInt8] { box("pixi", [0, 0, 0, 0, UInt8(values.count)] + values) }

    /// How AV1 samples are coded: the flags of depth and subsampling.
    static func av1(_ flags: UInt8) -> [UInt8] { box("av1C", [0x81, 0, flags, 0]) }

    /// How HEVC samples are coded: the format of chroma, and the bits beyond eight.
    static func hevc(chroma: UInt8, extraBits: UInt8) -> [UInt8] {
        box("hvcC", [1] + [UInt8](repeating: 0, count: 15) + [0xFC | chroma, 0xF8 | extraBits, 0xF8, 0])
    }

    static let alpha = box("auxC", [0, 0, 0, 0] + Array("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0".utf8))

    var bytes: [UInt8] {
        var associations = FileBytes()
        associations.append(big: isLong ? 0x0100_0001 : 0, 4)
        associations.append(big: 2, 4)
        // Another item comes first, with a property that is not the primary one's.
        for (item, positions) in [(7, [1]), (9, positions)] {
            associations.append(big: item, isLong ? 4 : 2)
            associations.append(big: positions.count, 1)
            for position in positions { associations.append(big: position, isLong ? 2 : 1) }
        }
        let iprp = HEIFFile.box(
            "iprp",
            HEIFFile.box("ipco", properties.flatMap { $0 }) + HEIFFile.box("ipma", associations.bytes))
        let pitm = hasPrimary ? HEIFFile.box("pitm", [0, 0, 0, 0, 0, 9]) : []
        let brand = FileBytes(text: brands[0] + "\0\0\0\0" + brands.joined()).bytes
        return HEIFFile.box("ftyp", brand) + HEIFFile.box("free", [1, 2, 3])
            + HEIFFile.box("meta", [0, 0, 0, 0] + pitm + iprp) + HEIFFile.box("mdat", [1, 2, 3])
    }
}

struct HEIFHeaderTests {
    @Test(arguments: [
        (["avif", "mif1"], ImageFormat.avif), (["mif1", "miaf", "avif"], .avif), (["avis"], .avif),
        (["heic", "mif1"], .heic), (["mif1", "heic"], .heic), (["heix"], .heic),
    ])
    func `the brand tells the coding`(brands: [String], format: ImageFormat) throws {
        #expect(try inspect(HEIFFile(brands: brands).bytes).format == format)
    }

    @Test(arguments: [["mp42", "isom"], ["mif1"], ["qt  "]])
    func `a film is no image`(brands: [String]) {
        #expect(throws: ImagingError.notAnImage) { try inspect(HEIFFile(brands: brands).bytes) }
    }

    @Test(arguments: [true, false])
    func `the primary item's size, depth and alpha`(isLong: Bool) throws {
        let file = HEIFFile(
            properties: [
                HEIFFile.size(10, 10), HEIFFile.size(300, 200), HEIFFile.depths([10, 10, 10]), HEIFFile.alpha,
            ], positions: [2, 3], isLong: isLong)
        let expected = ImageHeader(
            format: .avif, storedSize: PixelSize(width: 300, height: 200), bands: 4, bitDepth: 10, hasAlpha: true)
        #expect(try inspect(file.bytes) == expected)
    }

    @Test(arguments: [
        ([HEIFFile.av1(0x0C)], 8, true), ([HEIFFile.av1(0x00)], 8, false), ([HEIFFile.av1(0x08)], 8, true),
        ([HEIFFile.av1(0x4C)], 10, true), ([HEIFFile.av1(0x60)], 12, false), ([HEIFFile.av1(0x1C)], 8, true),
        ([HEIFFile.hevc(chroma: 1, extraBits: 0)], 8, true), ([HEIFFile.hevc(chroma: 3, extraBits: 2)], 10, false),
        ([HEIFFile.av1(0x0C), HEIFFile.av1(0x40)], 10, false), ([], 8, false),
        ([HEIFFile.depths([8, 8, 8]), HEIFFile.av1(0x6C)], 12, true),
    ])
    func `depth and chroma are those of the dearest item`(codings: [[UInt8]], depth: Int, isSubsampled: Bool) throws {
        // Whichever item they belong to: a grid's tiles are items, too.
        let file = HEIFFile(properties: [HEIFFile.size(300, 200)] + codings)
        let header = try inspect(file.bytes)
        #expect(header.bitDepth == depth && header.isChromaSubsampled == isSubsampled && header.bands == 3)
    }

    @Test(arguments: [
        ([HEIFFile.rotation(0)], 1), ([HEIFFile.rotation(1)], 8), ([HEIFFile.rotation(2)], 3),
        ([HEIFFile.rotation(3)], 6), ([HEIFFile.mirror(1)], 2), ([HEIFFile.mirror(0)], 4),
        ([HEIFFile.mirror(1), HEIFFile.rotation(1)], 5), ([HEIFFile.mirror(1), HEIFFile.rotation(3)], 7),
        ([HEIFFile.rotation(1), HEIFFile.mirror(1)], 7), ([HEIFFile.rotation(3), HEIFFile.mirror(1)], 5),
        ([HEIFFile.mirror(0), HEIFFile.mirror(1)], 3),
    ])
    func `turns and mirrors in their order are an orientation`(turns: [[UInt8]], orientation: Int) throws {
        let file = HEIFFile(properties: [HEIFFile.size(300, 200)] + turns, positions: Array(1...turns.count + 1))
        let header = try inspect(file.bytes)
        #expect(header.orientation == orientation)
        #expect(header.size.width == (orientation < 5 ? 300 : 200))
    }

    @Test func `an aperture is the size that is shown`() throws {
        var file = HEIFFile(properties: [HEIFFile.size(304, 208), HEIFFile.aperture(300, 200)], positions: [1, 2])
        #expect(try inspect(file.bytes).size == PixelSize(width: 300, height: 200))
        file.properties.insert(HEIFFile.rotation(1), at: 1)
        file.positions = [1, 2, 3]
        #expect(try inspect(file.bytes).size == PixelSize(width: 300, height: 200))
    }

    @Test func `what a decoder cannot read is refused`() {
        #expect(isDamaged(HEIFFile(positions: []).bytes))
        #expect(isDamaged(HEIFFile(positions: [0, 99]).bytes))
        #expect(isDamaged(HEIFFile(properties: [], positions: [1]).bytes))
        #expect(isDamaged(HEIFFile(properties: [HEIFFile.size(0, 5)]).bytes))
        #expect(isDamaged(HEIFFile(properties: [HEIFFile.size(5, 5), HEIFFile.depths([])], positions: [1, 2]).bytes))
        #expect(isDamaged(HEIFFile(hasPrimary: false).bytes))
        #expect(isDamaged(HEIFFile(properties: [HEIFFile.box("clap", HEIFFile.numbers([1, 0, 1, 0]))]).bytes))
    }

    @Test func `a file cut before its data is damaged`() {
        let bytes = HEIFFile().bytes
        for length in 20..<bytes.count - 11 {
            #expect(isDamaged(Array(bytes.prefix(length))), "\(length) bytes")
        }
    }
}
