import Recipes

/// Items at positions: an overlay (`iovl`, ISO/IEC 23008-12 section 6.6.2.4) or a grid (section 6.6.2.3).
///
/// Later items cover earlier ones.
struct HEIFLayers {
    struct Layer {
        let item: Int
        let left, top: Int
    }

    let size: PixelSize
    /// Red, green, blue and alpha of uncovered areas.
    let ground: [UInt8]
    let layers: [Layer]

    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        if let grid = try HEIFGrid(bytes, of: item, in: items) {
            let sources = items.sources(of: item)
            guard let first = sources.first, sources.count == grid.rows * grid.columns else { return nil }
            size = grid.size
            ground = [0, 0, 0, 0]
            layers = try grid.tiles(sources, of: items.transform(of: first, in: bytes).shownSize)
            return
        }
        guard items.types[item] == BoxCursor.type("iovl"),
            let range = try items.locations.wholePart(of: item, in: bytes),
            range.count >= 2, try bytes.byte(at: range.lowerBound) == 0
        else { return nil }
        let sources = items.sources(of: item)
        let width = try bytes.byte(at: range.lowerBound + 1) & 1 == 1 ? 4 : 2
        guard range.count >= 10 + 2 * width * (sources.count + 1) else {
            throw .cannotDecode(detail: "the places of layers are truncated")
        }
        var offset = range.lowerBound + 2
        func number(isSigned: Bool = false) throws(ImagingError) -> Int {
            defer { offset += width }
            let number = try bytes.bigEndian(width, at: offset)
            return isSigned && number >> (8 * width - 1) == 1 ? number - 1 << (8 * width) : number
        }
        var ground: [UInt8] = []
        for _ in 0..<4 {
            ground.append(UInt8(try bytes.bigEndian16(at: offset) >> 8))
            offset += 2
        }
        self.ground = ground
        size = try PixelSize(width: number(), height: number())
        var layers: [Layer] = []
        for source in sources {
            layers.append(try Layer(item: source, left: number(isSigned: true), top: number(isSigned: true)))
        }
        self.layers = layers
    }
}

struct HEIFGrid {
    let rows, columns: Int
    let size: PixelSize

    func tiles(_ items: [Int], of size: PixelSize) -> [HEIFLayers.Layer] {
        items.enumerated().map { index, item in
            HEIFLayers.Layer(item: item, left: index % columns * size.width, top: index / columns * size.height)
        }
    }

    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        guard items.types[item] == BoxCursor.type("grid"),
            let range = try items.locations.wholePart(of: item, in: bytes),
            case let start = range.lowerBound, range.count >= 8, try bytes.byte(at: start) == 0
        else { return nil }
        let width = try bytes.byte(at: start + 1) & 1 == 1 ? 4 : 2
        guard range.count >= 4 + 2 * width else { return nil }
        rows = try bytes.byte(at: start + 2) + 1
        columns = try bytes.byte(at: start + 3) + 1
        size = try PixelSize(
            width: bytes.bigEndian(width, at: start + 4), height: bytes.bigEndian(width, at: start + 4 + width))
        guard size.width > 0, size.height > 0 else { return nil }
    }
}
