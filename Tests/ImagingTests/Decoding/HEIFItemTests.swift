import Coordination
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Images composed of a file's items, decoded as the header walk describes them.
@Suite(.timeLimit(.minutes(1)))
struct HEIFItemTests {
    private typealias Item = HEIFWriter.Item
    private static let red = [255, 0, 0]
    private static let green = [0, 255, 0]
    private static let blue = [0, 0, 255]
    private static let white = [255, 255, 255]

    @Test(arguments: [
        ([HEIFBox.rotation(0)], [red, green, blue, white]), ([HEIFBox.rotation(1)], [green, white, red, blue]),
        ([HEIFBox.rotation(2)], [white, blue, green, red]), ([HEIFBox.rotation(3)], [blue, red, white, green]),
        ([HEIFBox.mirror(0)], [blue, white, red, green]), ([HEIFBox.mirror(1)], [green, red, white, blue]),
        ([HEIFBox.rotation(1), HEIFBox.mirror(1)], [white, green, blue, red]),
        ([HEIFBox.mirror(1), HEIFBox.rotation(1)], [red, blue, green, white]),
        ([HEIFBox.rotation(3), HEIFBox.mirror(0)], [white, green, blue, red]),
    ])
    func `a rotated or mirrored image is served upright`(turns: [[UInt8]], corners: [[Int]]) throws {
        var item = Item.coded(.quarters(ImageFixture.size))
        let plain = item.properties
        for properties in [plain + turns, turns + plain] {
            item.properties = properties
            let image = try decode([item], primary: 1)
            let isSideways = turns.contains { $0 == HEIFBox.rotation(1) || $0 == HEIFBox.rotation(3) }
            #expect(image.size == (isSideways ? PixelSize(width: 48, height: 64) : ImageFixture.size))
            #expect(colors(of: image) == corners)
        }
    }

    @Test func `the orientation in Exif data is ignored`() throws {
        var item = Item.coded(.quarters(ImageFixture.size))
        var exif = Item(id: 2, type: "Exif", data: [0, 0, 0, 0] + EXIF.block(orientation: 6))
        exif.references = [("cdsc", [1])]
        #expect(try colors(of: decode([item, exif], primary: 1)) == [Self.red, Self.green, Self.blue, Self.white])
        item.properties.append(HEIFBox.rotation(2))
        #expect(try colors(of: decode([item, exif], primary: 1)) == [Self.white, Self.blue, Self.green, Self.red])
    }

    @Test func `the primary item is served at any position`() throws {
        let other = Item.coded(.plain(PixelSize(width: 80, height: 32), [90, 90, 90]), id: 1)
        let picture = Item.coded(.quarters(ImageFixture.size), id: 2)
        for items in [[other, picture], [picture, other]] {
            let image = try decode(items, primary: 2)
            #expect(image.size == ImageFixture.size)
            #expect(colors(of: image) == [Self.red, Self.green, Self.blue, Self.white])
        }
    }

    @Test(arguments: [false, true])
    func `a grid is assembled, cropped and rotated`(isInside: Bool) throws {
        let tiles = [[UInt8](arrayLiteral: 255, 0, 0), [0, 255, 0], [0, 0, 255], [255, 255, 255]].enumerated().map {
            Item.coded(.plain(ImageFixture.size, $1), id: $0 + 1)
        }
        var grid = Item.grid(of: [1, 2, 3, 4], columns: 2, size: PixelSize(width: 120, height: 90), id: 9)
        grid.isInside = isInside
        let image = try decode(tiles + [grid], primary: 9)
        #expect(image.size == PixelSize(width: 120, height: 90))
        #expect(colors(of: image) == [Self.red, Self.green, Self.blue, Self.white])
        grid.properties.append(HEIFBox.rotation(1))
        let turned = try decode(tiles + [grid], primary: 9)
        #expect(turned.size == PixelSize(width: 90, height: 120))
        #expect(colors(of: turned) == [Self.green, Self.white, Self.red, Self.blue])
    }

    @Test func `layers are drawn over each other`() throws {
        let layer = Item.coded(.plain(PixelSize(width: 32, height: 32), [255, 255, 255]), id: 1)
        let overlay = Item.overlay(
            of: [(item: 1, left: 0, top: 0), (item: 1, left: 32, top: 32)], size: PixelSize(width: 64, height: 64),
            id: 2)
        let image = try decode([layer, overlay], primary: 2)
        #expect(colors(of: image) == [Self.white, [0, 0, 0], [0, 0, 0], Self.white])
    }

    @Test func `layers have alpha and positions beyond the edges, and nest`() throws {
        let size = PixelSize(width: 64, height: 64)
        let blue = Item.coded(.plain(size, [0, 0, 255]), id: 1)
        var veiled = Item.coded(.plain(size, [255, 255, 255]), id: 2)
        var alpha = Item.coded(.plain(size, [128, 128, 128]), id: 3)
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", [2])]
        veiled.properties.append(HEIFBox.rotation(1))
        let inner = Item.overlay(
            of: [(item: 1, left: 0, top: 0), (item: 2, left: -32, top: -32)], size: size, id: 4)
        var outer = Item.overlay(
            of: [(item: 4, left: 32, top: 0)], size: PixelSize(width: 128, height: 64), id: 5, isOpaque: false)
        let image = try decode([blue, veiled, alpha, inner, outer], primary: 5)
        #expect(image.size == PixelSize(width: 128, height: 64) && image.bands == 4)
        #expect(image.pixel(x: 8, y: 8)[3] == 0 && image.pixel(x: 120, y: 8)[3] == 0)
        for (pixel, wanted) in [
            (image.pixel(x: 40, y: 8), [128, 128, 255, 255]), (image.pixel(x: 90, y: 60), [0, 0, 255, 255]),
        ] {
            #expect(zip(pixel, wanted).allSatisfy { abs(Int($0) - $1) < 4 }, "\(pixel)")
        }
        // The overlay's own properties are applied last.
        outer.properties += [HEIFBox.aperture(64, 64), HEIFBox.rotation(2)]
        let turned = try decode([blue, veiled, alpha, inner, outer], primary: 5)
        #expect(turned.size == size && turned.pixel(x: 55, y: 55) == image.pixel(x: 40, y: 8))
    }

    @Test func `tiles of a grid may be rotated or derived`() throws {
        let size = PixelSize(width: 64, height: 64)
        var turned = Item.coded(.quarters(size), id: 1)
        turned.properties.append(HEIFBox.rotation(2))
        let overlay = Item.overlay(of: [(item: 1, left: 0, top: 0)], size: size, id: 2)
        let grid = Item.grid(of: [1, 2], columns: 2, size: PixelSize(width: 120, height: 64), id: 3)
        let image = try decode([turned, overlay, grid], primary: 3)
        #expect(image.size == PixelSize(width: 120, height: 64) && image.bands == 3)
        for x in [16, 80] {
            #expect(image.pixel(x: x, y: 16).allSatisfy { $0 > 239 } && image.pixel(x: x, y: 48)[1] > 239)
        }
    }

    @Test func `layers with a false size or in a cycle are rejected`() throws {
        let layer = Item.coded(.plain(PixelSize(width: 32, height: 32), [255, 255, 255]), id: 1)
        var overlay = Item.overlay(of: [(item: 1, left: 0, top: 0)], size: PixelSize(width: 64, height: 64), id: 2)
        overlay.properties = [HEIFBox.size(32, 32)]
        #expect(throws: ImagingError.cannotDecode(detail: "an item has an unsupported type")) {
            try decode([layer, overlay], primary: 2)
        }
        overlay.properties = [HEIFBox.size(64, 64)]
        overlay.data.removeLast()
        #expect(throws: ImagingError.cannotDecode(detail: "the positions of layers are truncated")) {
            try decode([layer, overlay], primary: 2)
        }
        overlay.references = [("dimg", [2])]
        #expect(throws: ImagingError.self) { try decode([layer, overlay], primary: 2) }
    }

    @Test(arguments: [[2, 6], [6, 2], [6, 2, 2], [2] + [Int](repeating: 6, count: 300)], [false, true])
    func `alpha, gain map and metadata may belong to other items, too`(targets: [Int], isLong: Bool) throws {
        let plain = try decode(Self.telephone(belongingTo: [2], isLong: isLong))
        let image = try decode(Self.telephone(belongingTo: targets, isLong: isLong))
        #expect(image.size == PixelSize(width: 32, height: 16) && image.bands == 4)
        // The alpha plane has limited range.
        #expect(image.pixel(x: 3, y: 3)[3] == 0 && image.pixel(x: 28, y: 3)[3] == 255)
        #expect(image.pixels.array == plain.pixels.array)
    }

    /// A file as written by iPhones since iOS 18.
    ///
    /// It has a grid with alpha, a gain map, a thumbnail, the image with the gain map applied, and Exif data. Alpha,
    /// gain map and Exif data refer to `targets`.
    private static func telephone(belongingTo targets: [Int], isLong: Bool) -> HEIFWriter {
        let size = PixelSize(width: 32, height: 16)
        func coded(_ id: Int, _ kind: [UInt8]?, _ references: [(type: String, items: [Int])]) -> Item {
            var item = Item.coded(.quarters(size), id: id)
            item.properties += kind.map { [$0] } ?? []
            item.references = references
            return item
        }
        var grid = Item.grid(of: [1], columns: 1, size: size, id: 2)
        grid.isInside = true
        var alpha = Item.limitedGray
        alpha.id = 3
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", targets)]
        var toneMapped = Item(id: 6, type: "tmap", data: [UInt8](repeating: 0, count: 62))
        toneMapped.references = [("dimg", [2, 4])]
        var exif = Item(id: 7, type: "Exif", data: [0, 0, 0, 0] + EXIF.block(orientation: 6))
        exif.references = [("cdsc", targets)]
        let gainMap = HEIFBox.auxiliary("urn:com:apple:photo:2020:aux:hdrgainmap")
        var file = HEIFWriter(
            [
                coded(1, nil, []), grid, alpha, coded(4, gainMap, [("auxl", targets)]), coded(5, nil, [("thmb", [2])]),
                toneMapped, exif,
            ], primary: 2)
        file.hasLongReferences = isLong
        return file
    }

    @Test func `an aperture is cropped`() throws {
        var item = Item.coded(.quarters(ImageFixture.size))
        // The center is 16 pixels to the right and 12 up: the top right quarter.
        item.properties += [HEIFBox.aperture(32, 24, right: 32, down: -24), HEIFBox.rotation(1)]
        let image = try decode([item], primary: 1)
        #expect(image.size == PixelSize(width: 24, height: 32))
        #expect(colors(of: image) == [[Int]](repeating: Self.green, count: 4))
    }

    @Test func `levels reduce the rotated image`() throws {
        var item = Item.coded(.quarters(ImageFixture.size))
        item.properties.append(HEIFBox.rotation(1))
        let image = try decode([item], primary: 1, level: 4)
        #expect(image.size == PixelSize(width: 12, height: 16))
        #expect(colors(of: image) == [Self.green, Self.white, Self.red, Self.blue])
    }

    @Test func `gray stays one component, and limited range becomes full`() throws {
        var item = Item.limitedGray
        #expect(try ends(of: item) == [[0], [255]])
        // A `colr` box overrides the samples' own range.
        item.properties.append(HEIFBox.meaning(isFullRange: false))
        #expect(try ends(of: item) == [[0], [255]])
        item.properties[2] = HEIFBox.meaning(isFullRange: true)
        #expect(try ends(of: item) == [[16], [235]])
        item.properties[2] = HEIFBox.rotation(2)
        #expect(try ends(of: item) == [[255], [0]])
    }

    @Test func `an item that only rotates another one is shown`() throws {
        var item = Item.coded(.quarters(ImageFixture.size))
        item.properties.append(HEIFBox.rotation(1))
        var turned = Item(id: 2, type: "iden", data: [], properties: [HEIFBox.size(48, 64), HEIFBox.rotation(1)])
        turned.references = [("dimg", [1])]
        let image = try decode([item, turned], primary: 2)
        #expect(image.size == ImageFixture.size)
        #expect(colors(of: image) == [Self.white, Self.blue, Self.green, Self.red])
    }

    /// BT.601's red has different components with other matrices.
    @Test(arguments: [(1, [255, 25, 0]), (9, [255, 8, 0]), (8, [246, 33, 0]), (6, [254, 0, 0])], [false, true])
    func `colors use the file's matrix`(matrix: (Int, [Int]), hasAlpha: Bool) throws {
        var item = Item.coded(.plain(ImageFixture.size, [255, 0, 0]))
        item.properties.append(HEIFBox.meaning(isFullRange: true, matrix: UInt8(matrix.0)))
        var alpha = Item.coded(.plain(ImageFixture.size, [255, 255, 255]), id: 2)
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", [1])]
        let image = try decode(hasAlpha ? [item, alpha] : [item], primary: 1)
        #expect(image.bands == (hasAlpha ? 4 : 3))
        for (sample, wanted) in zip(image.pixel(x: 9, y: 9), matrix.1) { #expect(abs(Int(sample) - wanted) <= 4) }
    }

    @Test(arguments: [false, true])
    func `PQ matches PNG, also in a rotated grid`(isGrid: Bool) throws {
        func samples(_ x: Int, _ y: Int) -> [UInt8] { [UInt8](repeating: UInt8(40 + 2 * x + y / 2), count: 3) }
        let (width, height) = (ImageFixture.size.width, ImageFixture.size.height)
        var png = PNGWriter(width: width, height: height, colorType: .rgb)
        png.chunks = [("cICP", [9, 16, 0, 1])]
        let plain = try decode(SharedBytes(png.file { x, y in samples(x, y).map(Int.init) }))
        var item = Item.coded(SampleImage(ImageFixture.size, bands: 3, color: samples), bits: 10)
        let meaning = HEIFBox.meaning(isFullRange: true, primaries: 9, transfer: 16, matrix: 9)
        var grid = Item.grid(of: [1], columns: 1, size: ImageFixture.size, id: 2)
        grid.properties += [meaning, HEIFBox.rotation(2)]
        item.properties += isGrid ? [] : [meaning, HEIFBox.rotation(2)]
        let image = try decode(isGrid ? [item, grid] : [item], primary: isGrid ? 2 : 1)
        #expect(image.size == plain.size && image.bands == 3)
        for (x, y) in [(0, 0), (9, 40), (31, 5), (63, 47)] {
            let wanted = plain.pixel(x: width - 1 - x, y: height - 1 - y)
            #expect(zip(image.pixel(x: x, y: y), wanted).allSatisfy { abs(Int($0) - Int($1)) <= 4 }, "\(x), \(y)")
        }
    }

    @Test(arguments: [false, true])
    func `reversible luma and chroma have two bits more than the colors`(hasAlpha: Bool) throws {
        var item = Item.coded(.plain(ImageFixture.size, [32, 32, 32]), bits: 10)
        item.properties.append(HEIFBox.meaning(isFullRange: true, matrix: 16))
        var alpha = Item.coded(.plain(ImageFixture.size, [255, 255, 255]), id: 2)
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", [1])]
        let image = try decode(hasAlpha ? [item, alpha] : [item], primary: 1)
        // 32 of 255 is 128 of 1,023; luma 128 is gray 128.
        for sample in image.pixel(x: 9, y: 9).prefix(3) { #expect(abs(Int(sample) - 128) <= 4) }
    }

    @Test func `premultiplied colors are divided by alpha`() throws {
        var item = Item.coded(.plain(ImageFixture.size, [64, 64, 64]))
        item.references = [("prem", [2])]
        var alpha = Item.coded(.plain(ImageFixture.size, [128, 128, 128]), id: 2)
        alpha.properties.append(HEIFBox.alpha)
        alpha.references = [("auxl", [1])]
        let pixel = try decode([item, alpha], primary: 1).pixel(x: 9, y: 9)
        #expect(zip(pixel, [128, 128, 128, 128]).allSatisfy { abs(Int($0) - $1) <= 3 })
    }

    @Test func `each tile may have an alpha plane`() throws {
        let size = PixelSize(width: 64, height: 32)
        let items = [1, 2].flatMap { id in
            var alpha = Item.coded(.plain(size, id == 1 ? [255, 255, 255] : [0, 0, 0]), id: id + 4)
            alpha.properties.append(HEIFBox.alpha)
            alpha.references = [("auxl", [id])]
            return [Item.coded(.plain(size, [0, 0, 255]), id: id), alpha]
        }
        let image = try decode(
            items + [.grid(of: [1, 2], columns: 2, size: PixelSize(width: 128, height: 32), id: 9)], primary: 9)
        #expect(image.size == PixelSize(width: 128, height: 32) && image.bands == 4)
        #expect(colors(of: image).map { $0[3] } == [255, 0, 255, 0])
    }

    @Test(arguments: [1, 2, 4])
    func `an aperture may begin within a chroma sample`(level: Int) throws {
        var item = Item.coded(.quarters(PixelSize(width: 130, height: 98)))
        item.properties += [HEIFBox.aperture(99, 67, right: 3, down: 3), HEIFBox.rotation(3)]
        let image = try decode([item], primary: 1, level: level)
        #expect(image.size == PixelSize(width: (67 + level - 1) / level, height: (99 + level - 1) / level))
        #expect(colors(of: image) == [Self.blue, Self.red, Self.white, Self.green])
    }

    @Test func `a header whose size differs from the samples' is rejected`() throws {
        var item = Item.coded(.quarters(ImageFixture.size))
        item.properties[0] = HEIFBox.size(64, 50)
        #expect(throws: ImagingError.cannotDecode(detail: "the header says 64×50, the data say 64×48")) {
            try decode([item], primary: 1)
        }
    }

    private func ends(of item: Item) throws -> [[UInt8]] {
        let image = try decode([item], primary: 1)
        return [image.pixel(x: 3, y: 8), image.pixel(x: 28, y: 8)]
    }

    /// The colors in the centers of the quarters, from top left to bottom right, rounded to 0 or 255 if close.
    private func colors(of image: DecodedImage) -> [[Int]] {
        let (left, right) = (image.size.width / 4, image.size.width * 3 / 4)
        let (top, bottom) = (image.size.height / 4, image.size.height * 3 / 4)
        return [(left, top), (right, top), (left, bottom), (right, bottom)].map { x, y in
            image.pixel(x: x, y: y).map { $0 < 16 ? 0 : $0 > 239 ? 255 : Int($0) }
        }
    }

    private func decode(_ items: [Item], primary: Int, level: Int = 1) throws -> DecodedImage {
        try decode(HEIFWriter(items, primary: primary), level: level)
    }

    private func decode(_ writer: HEIFWriter, level: Int = 1) throws -> DecodedImage {
        try decode(SharedBytes(writer.file), level: level)
    }

    private func decode(_ file: SharedBytes, level: Int = 1) throws -> DecodedImage {
        try ImageLibrary.start()
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: DecodePlan(level: level), limits: .none, token: WorkToken()
        ).interleavedInSRGB(token: WorkToken())
    }
}
