import Recipes
import TestSupport
import Testing

/// An AVIF or HEIC file's boxes that describe the primary item.
struct HEIFFile {
    var brands = ["avif", "mif1"]
    /// The properties of the file as whole boxes.
    var properties = [HEIFBox.size(300, 200)]
    /// Indexes of the primary item's properties, from 1.
    var positions = [1]
    var hasPrimary = true
    /// Whether property indexes have two bytes and item IDs four.
    var isLong = false

    var bytes: [UInt8] {
        var associations = FileBytes()
        associations.append(big: isLong ? 0x0100_0001 : 0, 4)
        associations.append(big: 2, 4)
        // Another item comes first, whose property is not the primary item's.
        for (item, positions) in [(7, [1]), (9, positions)] {
            associations.append(big: item, isLong ? 4 : 2)
            associations.append(big: positions.count, 1)
            for position in positions { associations.append(big: position, isLong ? 2 : 1) }
        }
        let iprp = HEIFBox.box(
            "iprp",
            HEIFBox.box("ipco", properties.flatMap { $0 }) + HEIFBox.box("ipma", associations.bytes))
        let pitm = hasPrimary ? HEIFBox.box("pitm", [0, 0, 0, 0, 0, 9]) : []
        let brand = FileBytes(text: brands[0] + "\0\0\0\0" + brands.joined()).bytes
        return HEIFBox.box("ftyp", brand) + HEIFBox.box("free", [1, 2, 3])
            + HEIFBox.box("meta", [0, 0, 0, 0] + pitm + iprp) + HEIFBox.box("mdat", [1, 2, 3])
    }
}

struct HEIFHeaderTests {
    @Test(arguments: [
        (["avif", "mif1"], ImageFormat.avif), (["mif1", "miaf", "avif"], .avif), (["avis"], .avif),
        (["heic", "mif1"], .heic), (["mif1", "heic"], .heic), (["heix"], .heic),
    ])
    func `the brand determines the format`(brands: [String], format: ImageFormat) throws {
        #expect(try inspect(HEIFFile(brands: brands).bytes).format == format)
    }

    @Test(arguments: [["mp42", "isom"], ["mif1"], ["qt  "]])
    func `a film is not an image`(brands: [String]) {
        #expect(throws: ImagingError.notAnImage) { try inspect(HEIFFile(brands: brands).bytes) }
    }

    @Test(arguments: [true, false])
    func `the primary item's size, depth and alpha`(isLong: Bool) throws {
        let file = HEIFFile(
            properties: [
                HEIFBox.size(10, 10), HEIFBox.size(300, 200), HEIFBox.depths([10, 10, 10]), HEIFBox.alpha,
            ], positions: [2, 3], isLong: isLong)
        let expected = ImageHeader(
            format: .avif, storedSize: PixelSize(width: 300, height: 200), work: DecoderWork(runs: 1), bands: 4,
            bitDepth: 10,
            hasAlpha: true)
        #expect(try inspect(file.bytes) == expected)
    }

    @Test(arguments: [
        ([HEIFBox.av1(0x0C)], 8, true), ([HEIFBox.av1(0x00)], 8, false), ([HEIFBox.av1(0x08)], 8, true),
        ([HEIFBox.av1(0x4C)], 10, true), ([HEIFBox.av1(0x60)], 12, false), ([HEIFBox.av1(0x1C)], 8, true),
        ([HEIFBox.hevc(chroma: 1, extraBits: 0)], 8, true), ([HEIFBox.hevc(chroma: 3, extraBits: 2)], 10, false),
        ([HEIFBox.av1(0x0C), HEIFBox.av1(0x40)], 10, false), ([], 8, false),
        ([HEIFBox.depths([8, 8, 8]), HEIFBox.av1(0x6C)], 12, true),
    ])
    func `depth and chroma are those of the costliest item`(codings: [[UInt8]], depth: Int, isSubsampled: Bool) throws {
        // Items of every kind count, because a grid's tiles are items, too.
        let file = HEIFFile(properties: [HEIFBox.size(300, 200)] + codings)
        let header = try inspect(file.bytes)
        #expect(header.bitDepth == depth && header.isChromaSubsampled == isSubsampled && header.bands == 3)
    }

    @Test(arguments: [
        ([HEIFBox.rotation(0)], false), ([HEIFBox.rotation(1)], true), ([HEIFBox.rotation(2)], false),
        ([HEIFBox.rotation(3)], true), ([HEIFBox.mirror(1)], false), ([HEIFBox.mirror(0)], false),
        ([HEIFBox.mirror(1), HEIFBox.rotation(1)], true), ([HEIFBox.rotation(3), HEIFBox.mirror(1)], true),
        ([HEIFBox.rotation(1), HEIFBox.rotation(1)], false),
    ])
    func `the size is the rotated image's, and no rotation remains`(turns: [[UInt8]], isSideways: Bool) throws {
        let positions = Array(1...turns.count + 1)
        for properties in [[HEIFBox.size(300, 200)] + turns, turns + [HEIFBox.size(300, 200)]] {
            let header = try inspect(HEIFFile(properties: properties, positions: positions).bytes)
            #expect(header.orientation == 1)
            #expect(header.size == PixelSize(width: isSideways ? 200 : 300, height: isSideways ? 300 : 200))
        }
    }

    @Test func `an aperture is the visible size`() throws {
        var file = HEIFFile(properties: [HEIFBox.size(304, 208), HEIFBox.aperture(300, 200)], positions: [1, 2])
        #expect(try inspect(file.bytes).size == PixelSize(width: 300, height: 200))
        file.properties.insert(HEIFBox.rotation(1), at: 1)
        file.positions = [1, 2, 3]
        let header = try inspect(file.bytes)
        #expect(header.size == PixelSize(width: 208, height: 200) && header.work.area == 304 * 208)
        // Parts outside the image are not shown.
        file.properties[2] = HEIFBox.aperture(100, 80, right: 2 * 120)
        #expect(try inspect(file.bytes).size == PixelSize(width: 34, height: 80))
    }

    @Test func `the decoded pixels count, not the visible ones`() throws {
        typealias Item = HEIFWriter.Item
        let large = Item(id: 1, type: "av01", data: [], properties: [HEIFBox.size(4_000, 3_000)])
        var cut = large
        cut.properties.append(HEIFBox.aperture(10, 10))
        let grid = Item.grid(of: [1], columns: 1, size: PixelSize(width: 64, height: 64), id: 2)
        let layers = [Int](repeating: 1, count: 7).map { (item: $0, left: 0, top: 0) }
        let overlay = Item.overlay(of: layers, size: PixelSize(width: 64, height: 64), id: 3)
        let again = Item.overlay(
            of: [3, 3, 2].map { (item: $0, left: 0, top: 0) }, size: PixelSize(width: 64, height: 64), id: 4)
        let usual = Item.grid(of: [1], columns: 1, size: PixelSize(width: 5_000, height: 3_000), id: 5)
        let small = Item(id: 6, type: "av01", data: [], properties: [HEIFBox.size(10, 10)])
        var alpha = large
        alpha.references = [("auxl", [6])]
        for (items, primary, area) in [
            ([cut], 1, 12_000_000), ([large, grid], 2, 12_000_000), ([large, overlay], 3, 84_004_096),
            ([large, grid, overlay, again], 4, 180_012_288), ([large, usual], 5, 15_000_000),
            ([small, alpha], 6, 12_000_000),
        ] {
            let header = try inspect(HEIFWriter(items, primary: primary).file)
            #expect(header.work.area == area)
            let plain = ImageHeader(format: .avif, storedSize: header.storedSize)
            #expect(
                header.cost(of: DecodePlan()) >= plain.cost(of: DecodePlan()) + 5 * (area - header.storedSize.area))
            let added = Double(area - header.storedSize.area)
            #expect(
                header.timeCost(of: DecodePlan()) - plain.timeCost(of: DecodePlan())
                    >= .nanoseconds(Int64(20 * added)))
            var limits = ImagingLimits()
            limits.sourceFormats.insert(.avif)
            limits.maximumSourcePixels = area
            try DecodePlan().check(header, limits: limits)
            limits.maximumSourcePixels = area - 1
            #expect(throws: ImagingError.tooManyPixels(header.storedSize)) {
                try DecodePlan().check(header, limits: limits)
            }
            #expect(throws: ImagingError.tooManyPixels(header.storedSize)) {
                try RenderPlan(options: RenderingOptions(), format: .jpeg, source: header, limits: limits)
            }
        }
    }

    @Test func `an item made of itself, of too many layers or of too many items is rejected`() {
        typealias Item = HEIFWriter.Item
        func made(of items: [Int], id: Int) -> Item {
            Item.grid(of: items, columns: items.count, size: PixelSize(width: 9, height: 9), id: id)
        }
        #expect(isDamaged(HEIFWriter([made(of: [1], id: 1)], primary: 1).file))
        #expect(isDamaged(HEIFWriter([made(of: [2], id: 1), made(of: [1], id: 2)], primary: 1).file))
        let chain = (1...20).map { made(of: [$0 + 1], id: $0) }
        #expect(isDamaged(HEIFWriter(chain, primary: 1).file))
        #expect(!isDamaged(HEIFWriter(chain, primary: 16).file))
        // Each item doubles the work of the one before; the work is only added up.
        let doubled = (1...7).map { made(of: [$0 + 1, $0 + 1], id: $0) }
        #expect(!isDamaged(HEIFWriter(doubled, primary: 1).file))
        var many = made(of: [2], id: 1)
        many.references = (0..<20_001).map { _ in ("dimg", [2]) }
        #expect(isDamaged(HEIFWriter([many], primary: 1).file))
    }

    @Test func `an undecodable file is rejected`() {
        #expect(isDamaged(HEIFFile(positions: []).bytes))
        #expect(isDamaged(HEIFFile(positions: [0, 99]).bytes))
        #expect(isDamaged(HEIFFile(properties: [], positions: [1]).bytes))
        #expect(isDamaged(HEIFFile(properties: [HEIFBox.size(0, 5)]).bytes))
        #expect(
            isDamaged(HEIFFile(properties: [HEIFBox.size(5, 5), HEIFBox.aperture(0, 3)], positions: [1, 2]).bytes))
        #expect(isDamaged(HEIFFile(hasPrimary: false).bytes))
        #expect(
            isDamaged(
                HEIFFile(properties: [HEIFBox.box("clap", [0, 0, 0, 1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 24))])
                    .bytes))
    }

    @Test func `a corrupted file is harmless`() {
        let picture = HEIFWriter.Item(
            id: 1, type: "av01", data: [1, 2, 3],
            properties: [HEIFBox.size(64, 48), HEIFBox.aperture(9, 9, right: -3), HEIFBox.rotation(1), HEIFBox.alpha])
        let grid = HEIFWriter.Item.grid(of: [1, 1], columns: 1, size: PixelSize(width: 60, height: 90), id: 2)
        let file = HEIFWriter([picture, grid], primary: 2).file
        #expect(!isDamaged(file))
        for index in 0..<file.count {
            for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = file
                changed[index] = byte
                _ = try? inspect(changed)
                _ = try? inspect(Array(changed.prefix(index + 5)))
            }
        }
    }

    @Test func `a file truncated before its data is damaged`() {
        let bytes = HEIFFile().bytes
        for length in 20..<bytes.count - 11 {
            #expect(isDamaged(Array(bytes.prefix(length))), "\(length) bytes")
        }
    }
}
