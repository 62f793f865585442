import Recipes

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

    /// The maximum side of any item.
    static let longestSide = 16_384

    /// Returns nil for layers, for tiles that are turned or differ, and for other codecs.
    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        self.items = items
        let shown = items.shown(item)
        guard let canvas = try HEIFCanvas(bytes, of: shown, in: items) else { return nil }
        self.canvas = canvas
        let planes = try Self.alphas(of: shown == item ? [item] : [item, shown], in: items, bytes: bytes)
        if let plane = planes.first {
            guard let alpha = try HEIFCanvas(bytes, of: items.shown(plane), in: items) else { return nil }
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
        var tiles: [HEIFPlacedItem] = []
        var planes: [Int: Int] = [:]
        for tile in canvas.tiles {
            if planes[tile.item] == nil {
                guard let plane = try alphas(of: [tile.item], in: items, bytes: bytes).first,
                    HEIFCoding(type: items.types[plane]) == canvas.coding,
                    try items.codedSize(of: plane, in: bytes) == canvas.tileSize
                else { return nil }
                planes[tile.item] = plane
            }
            guard let plane = planes[tile.item] else { return nil }
            tiles.append(HEIFPlacedItem(item: plane, left: tile.left, top: tile.top))
        }
        return HEIFCanvas(size: canvas.size, tileSize: canvas.tileSize, coding: canvas.coding, tiles: tiles)
    }
}
