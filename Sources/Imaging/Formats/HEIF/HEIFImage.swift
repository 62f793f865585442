import Recipes

struct HEIFCanvas {
    let size: PixelSize
    let tileSize: PixelSize
    let coding: HEIFCoding
    let tiles: [HEIFLayers.Layer]
}

/// An image of one item, or of a grid of items in the same codec.
struct HEIFImage {
    let items: HEIFItems
    let canvas: HEIFCanvas
    let alpha: HEIFCanvas?
    let isPremultiplied: Bool
    let transform: HEIFTransform
    /// The declared colors; nil if only the coded data state them.
    let colors: HEIFColors?
    let profile: Range<Int>?

    /// Nil for layers, for tiles that are turned or differ, and for other codecs.
    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        self.items = items
        let shown = items.shown(item)
        guard let canvas = try Self.canvas(of: shown, in: items, bytes: bytes) else { return nil }
        self.canvas = canvas
        let planes = try Self.alphas(of: shown == item ? [item] : [item, shown], in: items, bytes: bytes)
        if let plane = planes.first {
            guard let alpha = try Self.canvas(of: items.shown(plane), in: items, bytes: bytes) else { return nil }
            self.alpha = alpha
        } else {
            alpha = try Self.alphaOfTiles(canvas, items: items, in: bytes)
        }
        if let alpha, alpha.size != canvas.size { return nil }
        isPremultiplied = items.premultiplied.contains(shown)
        transform = try items.transform(of: item, in: bytes)
        guard transform.isWithin(canvas.size) else { return nil }
        let properties = try items.properties(of: shown, in: bytes)
        colors = properties.colors
        profile = properties.profile
    }

    private static func canvas(of item: Int, in items: HEIFItems, bytes: RawSpan) throws(ImagingError) -> HEIFCanvas? {
        guard items.types[item] == BoxCursor.type("grid") else {
            guard let coding = HEIFCoding(type: items.types[item]),
                let size = try codedSize(of: item, in: items, bytes: bytes)
            else {
                return nil
            }
            return HEIFCanvas(
                size: size, tileSize: size, coding: coding, tiles: [HEIFLayers.Layer(item: item, left: 0, top: 0)])
        }
        guard let grid = try HEIFGrid(bytes, of: item, in: items), case let sources = items.sources(of: item),
            sources.count == grid.rows * grid.columns, let first = sources.first,
            let coding = HEIFCoding(type: items.types[first]),
            let tileSize = try codedSize(of: first, in: items, bytes: bytes),
            tileSize.width * grid.columns >= grid.size.width, tileSize.height * grid.rows >= grid.size.height
        else { return nil }
        // A tile may appear at several positions.
        for source in Set(sources) {
            guard HEIFCoding(type: items.types[source]) == coding,
                try codedSize(of: source, in: items, bytes: bytes) == tileSize,
                try items.transform(of: source, in: bytes) == HEIFTransform(of: tileSize)
            else { return nil }
        }
        return HEIFCanvas(size: grid.size, tileSize: tileSize, coding: coding, tiles: grid.tiles(sources, of: tileSize))
    }

    private static func codedSize(of item: Int, in items: HEIFItems, bytes: RawSpan) throws(ImagingError) -> PixelSize?
    {
        guard let size = try items.size(of: item, in: bytes), 1...longestSide ~= size.width,
            1...longestSide ~= size.height
        else { return nil }
        return size
    }

    /// The maximum side of any item.
    static let longestSide = 16_384

    private static func alphas(of owners: [Int], in items: HEIFItems, bytes: RawSpan) throws(ImagingError) -> [Int] {
        var result: [Int] = []
        for owner in owners {
            for plane in items.auxiliaries(of: owner) where try items.properties(of: plane, in: bytes).contains(.alpha)
            {
                result.append(plane)
            }
        }
        return result
    }

    /// Returns the alpha planes of all tiles; nil if one has none.
    private static func alphaOfTiles(
        _ canvas: HEIFCanvas, items: HEIFItems, in bytes: RawSpan
    ) throws(ImagingError) -> HEIFCanvas? {
        guard canvas.tiles.count > 1 else { return nil }
        var tiles: [HEIFLayers.Layer] = []
        var planes: [Int: Int] = [:]
        for tile in canvas.tiles {
            if planes[tile.item] == nil {
                guard let plane = try alphas(of: [tile.item], in: items, bytes: bytes).first,
                    HEIFCoding(type: items.types[plane]) == canvas.coding,
                    try codedSize(of: plane, in: items, bytes: bytes) == canvas.tileSize
                else { return nil }
                planes[tile.item] = plane
            }
            guard let plane = planes[tile.item] else { return nil }
            tiles.append(HEIFLayers.Layer(item: plane, left: tile.left, top: tile.top))
        }
        return HEIFCanvas(size: canvas.size, tileSize: canvas.tileSize, coding: canvas.coding, tiles: tiles)
    }
}
