import Recipes

/// A crop, then a mirror and a turn.
///
/// The properties of an item apply in order, followed by the properties of an item that shows it.
struct HEIFTransform: Equatable {
    private(set) var visible: PixelRectangle
    private(set) var turn = QuarterTurn.none

    init(of size: PixelSize) { visible = PixelRectangle(size: size) }

    var shownSize: PixelSize { turn.turned(visible.size) }

    func isWithin(_ size: PixelSize) -> Bool {
        visible.x + visible.size.width <= size.width && visible.y + visible.size.height <= size.height
    }

    func shows(_ tile: HEIFPlacedItem, of size: PixelSize) -> Bool {
        tile.left < visible.x + visible.size.width && visible.x < tile.left + size.width
            && tile.top < visible.y + visible.size.height && visible.y < tile.top + size.height
    }

    mutating func apply(_ property: HEIFProperty) throws(ImagingError) {
        switch property {
        case .aperture(let aperture): try cut(aperture)
        // `irot` is counterclockwise.
        case .rotation(let quarters): turn = turn.then(QuarterTurn(quarters: -quarters))
        case .mirror(let isDown): turn = turn.then(isDown ? .mirrorY : .mirrorX)
        default: break
        }
    }

    private mutating func cut(_ aperture: HEIFAperture) throws(ImagingError) {
        let shown = try aperture.rectangle(in: shownSize)
        let stored = turn.inverse.turned(ImageRegion(x: shown.x, y: shown.y, size: shown.size, of: shownSize))
        visible = PixelRectangle(x: visible.x + stored.x, y: visible.y + stored.y, size: stored.size)
    }
}
