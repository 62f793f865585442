import Recipes

/// Items at positions: an overlay (`iovl`, ISO/IEC 23008-12 section 6.6.2.4) or a grid (section 6.6.2.3).
///
/// Later items cover earlier ones.
struct HEIFLayers {
    let size: PixelSize
    /// Red, green, blue and alpha of uncovered areas.
    let background: [UInt8]
    let layers: [HEIFPlacedItem]

    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        if let grid = try HEIFGrid(bytes, of: item, in: items) {
            let sources = items.sources(of: item)
            guard let first = sources.first, sources.count == grid.rows * grid.columns else { return nil }
            size = grid.size
            background = [0, 0, 0, 0]
            layers = try grid.tiles(sources, of: items.transform(of: first, in: bytes).shownSize)
            return
        }
        guard items.types[item] == BoxCursor.type("iovl"),
            let range = try items.locations.onlyExtent(of: item, in: bytes),
            range.count >= 2, try bytes.byte(at: range.lowerBound) == 0
        else { return nil }
        let sources = items.sources(of: item)
        let width = try bytes.byte(at: range.lowerBound + 1) & 1 == 1 ? 4 : 2
        guard range.count >= 10 + 2 * width * (sources.count + 1) else {
            throw .cannotDecode(detail: "the positions of layers are truncated")
        }
        var offset = range.lowerBound + 2
        func number(isSigned: Bool = false) throws(ImagingError) -> Int {
            defer { offset += width }
            let number = try bytes.bigEndian(width, at: offset)
            return isSigned && number >> (8 * width - 1) == 1 ? number - 1 << (8 * width) : number
        }
        var background: [UInt8] = []
        for _ in 0..<4 {
            background.append(UInt8(try bytes.bigEndian16(at: offset) >> 8))
            offset += 2
        }
        self.background = background
        size = try PixelSize(width: number(), height: number())
        var layers: [HEIFPlacedItem] = []
        for source in sources {
            layers.append(try HEIFPlacedItem(item: source, left: number(isSigned: true), top: number(isSigned: true)))
        }
        self.layers = layers
    }
}
