import Recipes
import TestSupport
import Testing

/// Small files that would take much time or memory to decode are rejected by their headers.
@Suite(.timeLimit(.minutes(1)))
struct HEIFWorkTests {
    private typealias Item = HEIFWriter.Item

    private static let tile = Item(id: 1, type: "av01", data: [1, 2, 3], properties: [HEIFBox.size(1, 1)])

    /// Nested images: each uses the one below this number of times, on a canvas of this size.
    private static func tower(
        _ kind: (_ parts: [Int], _ id: Int) -> Item, floors: Int, times: Int
    ) -> [UInt8] {
        let items = (2..<2 + floors).map { kind([Int](repeating: $0 - 1, count: times), $0) }
        return HEIFWriter([tile] + items, primary: floors + 1).file
    }

    private static func overlay(_ side: Int) -> (_ parts: [Int], _ id: Int) -> Item {
        { .overlay(of: $0.map { (item: $0, left: 0, top: 0) }, size: PixelSize(width: side, height: side), id: $1) }
    }

    private static func grid(_ side: Int) -> (_ parts: [Int], _ id: Int) -> Item {
        { .grid(of: $0, columns: $0.count, size: PixelSize(width: side, height: side), id: $1) }
    }

    @Test(arguments: [6, 5])
    func `layers with too many decoder runs are rejected, and those with many have their cost`(floors: Int) throws {
        for kind in [Self.overlay(1), Self.grid(1)] {
            #expect(isRefusedAtOnce(Self.tower(kind, floors: floors, times: 8)))
            let header = try inspect(Self.tower(kind, floors: 4, times: 8))
            #expect(header.work.runs == 1 + 8 + 64 + 512 + 4_096)
            #expect(header.timeCost(of: DecodePlan()) >= .milliseconds(450))
            #expect(header.timeCost(of: DecodePlan()).isExpensive)
        }
    }

    @Test func `canvases without layers have a cost, too`() {
        let empty = Item.overlay(of: [], size: PixelSize(width: 1, height: 1), id: 1)
        let items = (2..<9).map { Self.overlay(1)([Int](repeating: $0 - 1, count: 8), $0) }
        #expect(isRefusedAtOnce(HEIFWriter([empty] + items, primary: 8).file))
    }

    @Test(arguments: [false, true])
    func `canvases in memory at the same time are added up`(isGrid: Bool) throws {
        let kind = isGrid ? Self.grid(9_000) : Self.overlay(9_000)
        let area = 81_000_000
        for floors in 2...6 {
            let header = try inspect(Self.tower(kind, floors: floors, times: 1))
            // A grid of coded tiles is one image without a canvas for layers.
            let canvases = isGrid ? floors : floors
            #expect(header.work.area >= canvases * area - (isGrid ? 1 : 0), "\(floors)")
            #expect(header.cost(of: DecodePlan()) > 4 * canvases * area)
            #expect(throws: ImagingError.tooManyPixels(header.storedSize)) {
                var limits = ImagingLimits()
                limits.sourceFormats.insert(.avif)
                try DecodePlan().check(header, limits: limits)
            }
        }
    }

    @Test func `a grid of thousands of tiles costs time for each of them`() throws {
        let size = PixelSize(width: 90, height: 100)
        func grid(_ columns: Int, of tile: Item) throws -> ImageHeader {
            var grid = Item.grid(of: [Int](repeating: 1, count: 100 * columns), columns: columns, size: size, id: 2)
            grid.references = grid.references.flatMap { type, items in
                stride(from: 0, to: items.count, by: 5_000).map {
                    (type, Array(items[$0..<min($0 + 5_000, items.count)]))
                }
            }
            return try inspect(HEIFWriter([tile, grid], primary: 2).file)
        }
        let header = try grid(90, of: Self.tile)
        #expect(header.work.runs == 9_001 && header.timeCost(of: DecodePlan()) >= .milliseconds(900))
        #expect(throws: ImagingError.cannotDecode(detail: "the image consists of 10001 items")) {
            try grid(100, of: Self.tile)
        }
    }

    @Test func `nine thousand tiles of one item with as many auxiliary images are rejected`() {
        let auxiliaries = (3..<9_003).map { id in
            var item = Item(id: id, type: "av01", data: [], properties: [])
            item.references = [("auxl", [1])]
            return item
        }
        let grid = Item.grid(
            of: [Int](repeating: 1, count: 9_000), columns: 90, size: PixelSize(width: 90, height: 100), id: 2)
        #expect(isRefusedAtOnce(HEIFWriter([Self.tile, grid] + auxiliaries, primary: 2).file))
    }

    @Test func `coded data that are used repeatedly are rejected`() {
        let large = Item(
            id: 1, type: "av01", data: [UInt8](repeating: 0, count: 1 << 20), properties: [HEIFBox.size(1, 1)])
        let grid = Item.grid(
            of: [Int](repeating: 1, count: 100), columns: 10, size: PixelSize(width: 10, height: 10), id: 2)
        #expect(
            throws: ImagingError.cannotDecode(detail: "the image consists of \(100 << 20) coded bytes")
        ) {
            try inspect(HEIFWriter([large, grid], primary: 2).file)
        }
    }

    @Test(arguments: ["ipma", "iref", "free", "trak"])
    func `a list of millions of entries is rejected without reading it`(list: String) {
        let count = 1_000_000
        let header: [UInt8] = [0, 0, 0, 0]
        let contents: [UInt8] =
            switch list {
            case "ipma":
                HEIFBox.box(
                    "iprp",
                    HEIFBox.box("ipco", HEIFBox.size(1, 1))
                        + HEIFBox.full("ipma", count.bigEndian32 + repeated([0, 1, 0], count)))
            case "iref": HEIFBox.full("iref", repeated([0, 0, 0, 12] + Array("cdsc".utf8) + [0, 1, 0, 0], count))
            default: repeated([0, 0, 0, 8] + Array(list.utf8), count)
            }
        let isMovie = list == "trak"
        let brand = Array((isMovie ? "avis" : "avif").utf8)
        #expect(
            isRefusedAtOnce(
                HEIFBox.box("ftyp", brand + header + brand)
                    + (isMovie ? HEIFBox.box("moov", contents) : HEIFBox.box("meta", header + contents))))
    }

    private func repeated(_ bytes: [UInt8], _ count: Int) -> [UInt8] { (0..<count).flatMap { _ in bytes } }

    /// Whether a file is rejected much faster than decoding it or expanding its lists would take.
    private func isRefusedAtOnce(_ file: [UInt8]) -> Bool {
        let start = threadTime
        return isDamaged(file) && threadTime - start < .milliseconds(100)
    }
}
