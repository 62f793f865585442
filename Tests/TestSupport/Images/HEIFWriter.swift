package import Recipes

/// Writes AVIF files with rotated, cropped or derived images around items that our encoder coded.
package struct HEIFWriter {
    package struct Item {
        package var id: Int
        package var type: String
        package var data: [UInt8]
        /// The properties as whole boxes, in the order in which they apply.
        package var properties: [[UInt8]]
        /// References to other items, by type.
        package var references: [(type: String, items: [Int])] = []
        /// Whether the data is in `idat` instead of `mdat`.
        package var isInside = false

        package init(id: Int, type: String, data: [UInt8], properties: [[UInt8]] = []) {
            (self.id, self.type, self.data, self.properties) = (id, type, data, properties)
        }
    }

    package var items: [Item]
    /// ID of the primary item.
    package var primary: Int
    /// Whether references use 32-bit item IDs.
    package var hasLongReferences = false

    package init(_ items: [Item], primary: Int) {
        (self.items, self.primary) = (items, primary)
    }

    package var file: [UInt8] {
        let kind = HEIFBox.box("ftyp", Array("avif\0\0\0\0avifmif1miaf".utf8))
        // The offset of the data does not change the length of the descriptions.
        let start = kind.count + descriptions(dataAt: 0).count + 8
        let data = items.filter { !$0.isInside }.flatMap(\.data)
        return kind + descriptions(dataAt: start) + HEIFBox.box("mdat", data)
    }

    private func descriptions(dataAt start: Int) -> [UInt8] {
        let handler = HEIFBox.full("hdlr", [0, 0, 0, 0] + Array("pict".utf8) + [UInt8](repeating: 0, count: 13))
        let entries = items.flatMap { item in
            HEIFBox.full("infe", version: 2, item.id.bigEndian16 + [0, 0] + Array(item.type.utf8) + [0])
        }
        let number = hasLongReferences ? \Int.bigEndian32 : \Int.bigEndian16
        let references = items.flatMap { item in
            item.references.flatMap { type, targets in
                HEIFBox.box(
                    type, item.id[keyPath: number] + targets.count.bigEndian16 + targets.flatMap { $0[keyPath: number] }
                )
            }
        }
        return HEIFBox.full(
            "meta",
            handler + HEIFBox.full("pitm", primary.bigEndian16)
                + HEIFBox.full("iinf", items.count.bigEndian16 + entries) + places(dataAt: start) + properties
                + (references.isEmpty ? [] : HEIFBox.full("iref", version: hasLongReferences ? 1 : 0, references))
                + HEIFBox.box("idat", items.filter(\.isInside).flatMap(\.data)))
    }

    private var properties: [UInt8] {
        var index = 0
        let lists = items.flatMap { item in
            let positions = item.properties.map { _ in
                index += 1
                return UInt8(index)
            }
            return item.id.bigEndian16 + [UInt8(positions.count)] + positions
        }
        return HEIFBox.box(
            "iprp",
            HEIFBox.box("ipco", items.flatMap { $0.properties.flatMap { $0 } })
                + HEIFBox.full("ipma", items.count.bigEndian32 + lists))
    }

    private func places(dataAt start: Int) -> [UInt8] {
        var (outside, inside) = (start, 0)
        let places = items.flatMap { item in
            let offset = item.isInside ? inside : outside
            if item.isInside { inside += item.data.count } else { outside += item.data.count }
            return item.id.bigEndian16 + [0, item.isInside ? 1 : 0, 0, 0, 0, 1] + offset.bigEndian32
                + item.data.count.bigEndian32
        }
        return HEIFBox.full("iloc", version: 1, [0x44, 0] + items.count.bigEndian16 + places)
    }
}

extension HEIFWriter.Item {
    /// An image as our encoder codes it, without alpha.
    package static func coded(_ image: SampleImage, id: Int = 1, bits: Int = 8) -> HEIFWriter.Item {
        precondition(image.bands == 3, "alpha would be a second item")
        let file = ImageFixture.avifFile(image, bits: bits)
        return HEIFWriter.Item(
            id: id, type: "av01", data: contents(of: "mdat", in: file),
            properties: [
                HEIFBox.size(image.size.width, image.size.height),
                HEIFBox.box("av1C", contents(of: "av1C", in: file)),
            ])
    }

    /// Gray, 32×16, limited range: 16 on the left, 235 on the right; the range is in the AV1 sequence header.
    ///
    /// Coded by libheif 1.15.1 and libaom 3.6.0: `heif_colorspace_monochrome`, 8 bits, quality 90, `full_range_flag` 0.
    package static var limitedGray: HEIFWriter.Item {
        let data: [UInt8] = [
            0x12, 0x00, 0x0A, 0x08, 0x18, 0x10, 0xFF, 0xEC, 0x30, 0x20, 0x20, 0x62, 0x32, 0x0F, 0x11, 0x80, 0x00, 0x01,
            0x00, 0xB5, 0x4E, 0xC3, 0x0D, 0x49, 0xCC, 0x21, 0x8B, 0x1F, 0x02,
        ]
        return HEIFWriter.Item(
            id: 1, type: "av01", data: data, properties: [HEIFBox.size(32, 16), HEIFBox.av1(0x1C)])
    }

    /// A grid of tiles; the right and bottom edges may be cropped.
    package static func grid(of tiles: [Int], columns: Int, size: PixelSize, id: Int) -> HEIFWriter.Item {
        let sides = [UInt8(tiles.count / columns - 1), UInt8(columns - 1)]
        var item = HEIFWriter.Item(
            id: id, type: "grid", data: [0, 0] + sides + size.width.bigEndian16 + size.height.bigEndian16,
            properties: [HEIFBox.size(size.width, size.height)])
        item.references = [("dimg", tiles)]
        return item
    }

    /// Layers at their positions on a black or transparent background.
    package static func overlay(
        of layers: [(item: Int, left: Int, top: Int)], size: PixelSize, id: Int, isOpaque: Bool = true
    ) -> HEIFWriter.Item {
        let ground: [UInt8] = [0, 0, 0, 0, 0, 0] + (isOpaque ? [0xFF, 0xFF] : [0, 0])
        let places = layers.flatMap { ($0.left & 0xFFFF).bigEndian16 + ($0.top & 0xFFFF).bigEndian16 }
        var item = HEIFWriter.Item(
            id: id, type: "iovl",
            data: [0, 0] + ground + size.width.bigEndian16 + size.height.bigEndian16 + places,
            properties: [HEIFBox.size(size.width, size.height)])
        item.references = [("dimg", layers.map(\.item))]
        return item
    }

    /// The content of the first box of this type; earlier data must not contain the type's name.
    private static func contents(of type: String, in file: [UInt8]) -> [UInt8] {
        guard let name = file.indices.first(where: { file[$0...].starts(with: type.utf8) }) else {
            fatalError("an AVIF without \(type)")
        }
        let length = file[name - 4..<name].reduce(0) { $0 << 8 | Int($1) }
        return Array(file[name + 4..<name - 4 + length])
    }
}
