/// The coded items that an image is put together from.
struct HEIFCanvas {
    /// One coded item, and the place of its first pixel.
    struct Tile {
        let item: Int
        let left, top: Int
    }

    /// The size of the whole image, which the tiles may exceed on the right and below.
    let size: PixelSize
    /// The size of each tile.
    let tileSize: PixelSize
    let coding: HEIFCoding
    let tiles: [Tile]
}

/// The image of a HEIF file, as far as it is one item, or a grid of items, in one codec.
struct HEIFImage {
    let items: HEIFItems
    /// Its colors.
    let canvas: HEIFCanvas
    /// Its transparency, as large as its colors.
    let alpha: HEIFCanvas?
    /// Whether colors are multiplied by alpha.
    let isPremultiplied: Bool
    /// How it is cut and turned.
    let transform: HEIFTransform
    /// The meaning of the samples by the file; nil if only the coded data say it.
    let colors: HEIFColors?
    /// The place of the ICC profile.
    let profile: Range<Int>?

    /// Reads how an item is put together; nil for one of layers, of tiles that differ or are turned, and of other
    /// codecs.
    ///
    /// - Throws: ``ImagingError/cannotDecode(detail:)`` for a damaged file.
    init?(_ bytes: RawSpan, of item: Int, _ items: HEIFItems) throws(ImagingError) {
        self.items = items
        let shown = items.shown(item)
        guard let canvas = try Self.canvas(of: shown, items, bytes) else { return nil }
        self.canvas = canvas
        let planes = try Self.alphas(of: shown == item ? [item] : [item, shown], items, bytes)
        if let plane = planes.first {
            guard let alpha = try Self.canvas(of: items.shown(plane), items, bytes) else { return nil }
            self.alpha = alpha
        } else {
            alpha = try Self.alphaOfTiles(canvas, items, bytes)
        }
        if let alpha, alpha.size != canvas.size { return nil }
        isPremultiplied = items.premultiplied.contains(shown)
        transform = try items.transform(of: item, in: bytes)
        guard transform.isWithin(canvas.size) else { return nil }
        var colors: HEIFColors?
        for case .colors(let found) in try items.properties(of: shown, in: bytes) { colors = colors ?? found }
        self.colors = colors
        profile = try items.profile(of: shown, in: bytes)
    }

    private static func canvas(
        of item: Int, _ items: HEIFItems, _ bytes: RawSpan
    ) throws(ImagingError) -> HEIFCanvas? {
        guard items.types[item] == BoxCursor.type("grid") else {
            guard let coding = HEIFCoding(type: items.types[item]), let size = try codedSize(of: item, items, bytes)
            else {
                return nil
            }
            return HEIFCanvas(
                size: size, tileSize: size, coding: coding, tiles: [HEIFCanvas.Tile(item: item, left: 0, top: 0)])
        }
        guard let grid = try HEIFGrid(bytes, of: item, items), case let sources = items.sources(of: item),
            sources.count == grid.rows * grid.columns, let first = sources.first,
            let coding = HEIFCoding(type: items.types[first]), let tileSize = try codedSize(of: first, items, bytes),
            tileSize.width * grid.columns >= grid.size.width, tileSize.height * grid.rows >= grid.size.height
        else { return nil }
        var tiles: [HEIFCanvas.Tile] = []
        var judged: Set<Int> = []
        for (index, source) in sources.enumerated() {
            // A tile may be at many places.
            if judged.insert(source).inserted {
                guard HEIFCoding(type: items.types[source]) == coding,
                    try codedSize(of: source, items, bytes) == tileSize,
                    try items.transform(of: source, in: bytes) == HEIFTransform(of: tileSize)
                else { return nil }
            }
            tiles.append(
                HEIFCanvas.Tile(
                    item: source, left: index % grid.columns * tileSize.width,
                    top: index / grid.columns * tileSize.height))
        }
        return HEIFCanvas(size: grid.size, tileSize: tileSize, coding: coding, tiles: tiles)
    }

    /// The size of a coded item, of whose layers the best is shown; nil without a size.
    private static func codedSize(of item: Int, _ items: HEIFItems, _ bytes: RawSpan) throws(ImagingError) -> PixelSize?
    {
        guard let size = try items.size(of: item, in: bytes), 1...longestSide ~= size.width,
            1...longestSide ~= size.height
        else { return nil }
        return size
    }

    /// Longest side of anything in a file.
    static let longestSide = 16_384

    /// The items of alpha that belong to one of these.
    private static func alphas(
        of owners: [Int], _ items: HEIFItems, _ bytes: RawSpan
    ) throws(ImagingError) -> [Int] {
        var result: [Int] = []
        for owner in owners {
            for plane in items.auxiliaries(of: owner) where try items.properties(of: plane, in: bytes).contains(.alpha)
            {
                result.append(plane)
            }
        }
        return result
    }

    /// The alpha of an image, each tile of which has its own; nil if not all have.
    private static func alphaOfTiles(
        _ canvas: HEIFCanvas, _ items: HEIFItems, _ bytes: RawSpan
    ) throws(ImagingError) -> HEIFCanvas? {
        guard canvas.tiles.count > 1 else { return nil }
        var tiles: [HEIFCanvas.Tile] = []
        var planes: [Int: Int] = [:]
        for tile in canvas.tiles {
            if planes[tile.item] == nil {
                guard let plane = try alphas(of: [tile.item], items, bytes).first,
                    HEIFCoding(type: items.types[plane]) == canvas.coding,
                    try codedSize(of: plane, items, bytes) == canvas.tileSize
                else { return nil }
                planes[tile.item] = plane
            }
            guard let plane = planes[tile.item] else { return nil }
            tiles.append(HEIFCanvas.Tile(item: plane, left: tile.left, top: tile.top))
        }
        return HEIFCanvas(size: canvas.size, tileSize: canvas.tileSize, coding: canvas.coding, tiles: tiles)
    }
}

extension HEIFTransform {
    /// Whether the part lies in an image of this size.
    fileprivate func isWithin(_ size: PixelSize) -> Bool {
        part.x + part.size.width <= size.width && part.y + part.size.height <= size.height
    }
}
