import Recipes

/// A tile of a grid, or a layer of an overlay.
struct HEIFPlacedItem {
    let item: Int
    let left, top: Int
}

struct HEIFGrid {
    let rows, columns: Int
    let size: PixelSize

    func tiles(_ items: [Int], of size: PixelSize) -> [HEIFPlacedItem] {
        items.enumerated().map { index, item in
            HEIFPlacedItem(item: item, left: index % columns * size.width, top: index / columns * size.height)
        }
    }

    init?(_ bytes: RawSpan, of item: Int, in items: HEIFItems) throws(ImagingError) {
        guard items.types[item] == BoxCursor.type("grid"),
            let range = try items.locations.onlyExtent(of: item, in: bytes),
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
