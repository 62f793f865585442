import Coordination
import Memory
import TestSupport
import Testing

@testable import Imaging

/// Items that belong to several others, as iPhones write them since iOS 18.
@Suite(.timeLimit(.minutes(1)))
struct HEIFRepairTests {
    private typealias Item = HEIFWriter.Item
    private static let size = PixelSize(width: 32, height: 16)

    /// A grid with alpha, a gain map, a thumbnail and Exif data; `targets` are what alpha, gain map and Exif data
    /// belong to.
    private static func file(belongingTo targets: [Int], isLong: Bool = false) -> HEIFWriter {
        func coded(_ id: Int, _ kind: [UInt8]?, _ references: [(type: String, items: [Int])]) -> Item {
            var item = Item.coded(.quarters(size), id: id)
            item.properties += kind.map { [$0] } ?? []
            item.references = references
            return item
        }
        var grid = Item.grid(of: [1], columns: 1, size: size, id: 2)
        grid.isInside = true
        var alpha = Item.limitedGrey
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

    @Test(arguments: [[2, 6], [6, 2], [6, 2, 2], [2] + [Int](repeating: 6, count: 300)], [false, true])
    func `alpha, gain map and metadata may belong to other items, too`(targets: [Int], isLong: Bool) throws {
        let plain = try decode(Self.file(belongingTo: [2], isLong: isLong).file)
        let image = try decode(Self.file(belongingTo: targets, isLong: isLong).file)
        #expect(image.size == Self.size && image.bands == 4)
        // The alpha plane has limited range.
        #expect(image.pixel(x: 3, y: 3) == plain.pixel(x: 3, y: 3) && image.pixel(x: 3, y: 3)[3] == 0)
        #expect(image.pixel(x: 28, y: 3)[3] == 255)
        #expect(try samples(of: image) == samples(of: plain))
    }

    @Test func `libheif refuses such a file unless it is repaired`() throws {
        try ImageLibrary.start()
        let file = SharedBytes(Self.file(belongingTo: [2, 6]).file)
        let header = try ImageHeader.inspect(file)
        // If this fails, libheif is new enough and the repair can go.
        #expect {
            try HEIFPixels.decode(file, header: header, token: WorkToken())
        } throws: {
            guard case ImagingError.cannotDecode(let text) = $0 else { return false }
            return text.contains("Too many auxiliary image references")
        }
        _ = try HEIFPixels.decode(HEIFRepair.repair(file).bytes, header: header, token: WorkToken())
    }

    @Test(arguments: [false, true])
    func `references keep the primary item, or else their first one`(isLong: Bool) throws {
        for (targets, kept) in [([2, 6], 2), ([6, 2], 2), ([5, 6], 5)] {
            let file = Self.file(belongingTo: targets, isLong: isLong).file
            let repaired = try repaired(file)
            #expect(
                try references(of: repaired) == [
                    "dimg 2 [1]", "auxl 3 [\(kept)]", "auxl 4 [\(kept)]", "thmb 5 [2]", "dimg 6 [2, 4]",
                    "cdsc 7 [\(kept)]",
                ])
            // Data stays where it is.
            #expect(repaired.count == file.count)
            let data = try #require(file.indices.last { file[$0...].starts(with: "idat".utf8) })
            #expect(repaired[data...] == file[data...])
        }
    }

    @Test func `a file is not copied without need`() throws {
        for file in [Self.file(belongingTo: [2]).file, Self.file(belongingTo: []).file, HEIFFile().bytes] {
            let file = SharedBytes(file)
            #expect(try HEIFRepair.repair(file).bytes === file)
        }
    }

    @Test func `long headers of boxes become short`() throws {
        var file = HEIFWriter([Item.coded(.quarters(Self.size))], primary: 1).file
        let plain = try decode(file)
        // The references stand behind the other boxes, with bytes that none of them uses; the data moves by their
        // length.
        let reference = HEIFBox.box("cdsc", [0, 9, 0, 2, 0, 1, 0, 6, 1, 2, 3])
        let references =
            [0, 0, 0, 1] + Array("iref".utf8) + 0.bigEndian32 + (16 + 4 + reference.count).bigEndian32 + [0, 0, 0, 0]
            + reference
        let meta = try #require(range(of: "meta", in: file))
        file.replaceSubrange(meta, with: HEIFBox.box("meta", Array(file[meta].dropFirst(8)) + references))
        let places = try #require(range(of: "iloc", in: file))
        let offset = places.lowerBound + 24
        let moved = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } + references.count
        file.replaceSubrange(offset..<offset + 4, with: moved.bigEndian32)
        #expect(try self.references(of: repaired(file)) == ["cdsc 9 [1]"])
        #expect(try repaired(file).count == file.count)
        #expect(try samples(of: decode(file)) == samples(of: plain))
    }

    @Test func `damaged references are refused`() throws {
        func isRefused(_ change: (inout [UInt8]) throws -> Void) rethrows -> Bool {
            var file = Self.file(belongingTo: [2, 6]).file
            try change(&file)
            do {
                _ = try HEIFRepair.repair(SharedBytes(file))
                return false
            } catch {
                if case .cannotDecode = error { return true }
                return false
            }
        }
        func place(of type: String, in file: [UInt8]) throws -> Int {
            try #require(range(of: type, in: file)).lowerBound
        }
        #expect(!isRefused { _ in })
        // Lists longer than their boxes, and a box longer than the list of references.
        #expect(try isRefused { $0[try place(of: "cdsc", in: $0) + 11] = 3 })
        #expect(try isRefused { $0[try place(of: "auxl", in: $0) + 10] = 0xFF })
        #expect(try isRefused { $0[try place(of: "cdsc", in: $0) + 3] = 0xFF })
        // A file without a handler; a reference that is too short to have a list.
        #expect(try isRefused { $0[try place(of: "hdlr", in: $0) + 4] = 0 })
        #expect(try isRefused { $0[try place(of: "cdsc", in: $0) + 3] = 8 })
        var many = Item.coded(.quarters(Self.size))
        many.references = [("cdsc", [1, 2])] + (0..<9).map { _ in ("free", [Int](repeating: 1, count: 60_000)) }
        let file = SharedBytes(HEIFWriter([many], primary: 1).file)
        #expect(throws: ImagingError.cannotDecode(detail: "too many references")) { try HEIFRepair.repair(file) }
    }

    @Test(arguments: [false, true])
    func `a file changed anywhere does no harm`(isLong: Bool) throws {
        let file = Self.file(belongingTo: [2, 6], isLong: isLong).file
        let meta = try #require(range(of: "meta", in: file))
        for index in meta {
            for byte in [0, 1, 2, 0x7F, 0xFF] as [UInt8] {
                var changed = file
                changed[index] = byte
                for bytes in [changed, Array(changed.prefix(index + 5))] {
                    if let repaired = try? repaired(bytes) { #expect(repaired.count == bytes.count) }
                }
            }
        }
    }

    private func repaired(_ file: [UInt8]) throws -> [UInt8] { try HEIFRepair.repair(SharedBytes(file)).bytes.array }

    /// The first box of this type, with its short header; its name must not be among the data before it.
    private func range(of type: String, in file: [UInt8]) -> Range<Int>? {
        guard let name = file.indices.first(where: { file[$0...].starts(with: type.utf8) }) else { return nil }
        return name - 4..<name - 4 + file[name - 4..<name].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The references of a file: type, source and targets of each.
    private func references(of file: [UInt8]) throws -> [String] {
        try SharedBytes(file).withBytes { bytes in
            var boxes = BoxCursor(0..<bytes.byteCount)
            let meta = try #require(try boxes.next(of: BoxCursor.type("meta"), in: bytes))
            var children = BoxCursor(meta.contents.dropFirst(4))
            let box = try #require(try children.next(of: BoxCursor.type("iref"), in: bytes))
            var references = try HEIFReferences(bytes, in: box.contents)
            var result: [String] = []
            while let reference = try references.next(in: bytes) {
                let type = String(decoding: reference.type.bigEndian32, as: UTF8.self)
                result.append(try "\(type) \(reference.source(in: bytes)) \(reference.targets(in: bytes))")
            }
            return result
        }
    }

    private func samples(of image: DecodedImage) throws -> [UInt8] {
        try image.interleaved(token: WorkToken()).pixels.array
    }

    private func decode(_ file: [UInt8]) throws -> DecodedImage {
        try ImageLibrary.start()
        let file = SharedBytes(file)
        return try ImageDecoder.decode(
            file, header: .inspect(file), plan: DecodePlan(), limits: .none, token: WorkToken())
    }
}
