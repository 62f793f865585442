import Recipes

/// The coded images that form an image or an alpha plane: one item, or the tiles of a grid.
struct HEIFCanvas {
    let size: PixelSize
    let tileSize: PixelSize
    let coding: HEIFCoding
    let tiles: [HEIFPlacedItem]
}

extension HEIFCanvas {
    /// Returns nil for layers, for tiles that are turned or differ, and for other codecs.
    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        guard items.types[item] == BoxCursor.type("grid") else {
            guard let coding = HEIFCoding(type: items.types[item]), let size = try items.codedSize(of: item, in: bytes)
            else { return nil }
            self.init(size: size, tileSize: size, coding: coding, tiles: [HEIFPlacedItem(item: item, left: 0, top: 0)])
            return
        }
        guard let grid = try HEIFGrid(bytes, of: item, in: items), case let sources = items.sources(of: item),
            sources.count == grid.rows * grid.columns, let first = sources.first,
            let coding = HEIFCoding(type: items.types[first]),
            let tileSize = try items.codedSize(of: first, in: bytes),
            tileSize.width * grid.columns >= grid.size.width, tileSize.height * grid.rows >= grid.size.height
        else { return nil }
        // A tile may appear at several positions.
        for source in Set(sources) {
            guard HEIFCoding(type: items.types[source]) == coding,
                try items.codedSize(of: source, in: bytes) == tileSize,
                try items.transform(of: source, in: bytes) == HEIFTransform(of: tileSize)
            else { return nil }
        }
        self.init(size: grid.size, tileSize: tileSize, coding: coding, tiles: grid.tiles(sources, of: tileSize))
    }
}

extension HEIFItems {
    /// Returns the size of a coded image; nil if it is unknown or too large.
    func codedSize(of item: Int, in bytes: RawSpan) throws(ImagingError) -> PixelSize? {
        guard let size = try size(of: item, in: bytes), 1...HEIFImage.longestSide ~= size.width,
            1...HEIFImage.longestSide ~= size.height
        else { return nil }
        return size
    }
}

enum HEIFCoding {
    case av1, hevc

    init?(type: Int?) {
        switch type {
        case BoxCursor.type("av01"): self = .av1
        case BoxCursor.type("hvc1"): self = .hevc
        default: return nil
        }
    }
}
