import Recipes

/// A crop, then a mirror and a turn.
///
/// The properties of an item apply in order, followed by the properties of an item that shows it.
struct HEIFTransform: Equatable {
    private(set) var part: (x: Int, y: Int, size: PixelSize)
    private(set) var turn = QuarterTurn.none

    init(of size: PixelSize) { part = (0, 0, size) }

    var shownSize: PixelSize { turn.turned(part.size) }

    func isWithin(_ size: PixelSize) -> Bool {
        part.x + part.size.width <= size.width && part.y + part.size.height <= size.height
    }

    func shows(_ tile: HEIFLayers.Layer, of size: PixelSize) -> Bool {
        tile.left < part.x + part.size.width && part.x < tile.left + size.width
            && tile.top < part.y + part.size.height && part.y < tile.top + size.height
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
        let shown = try aperture.part(of: shownSize)
        let stored = turn.inverse.turned(ImagePart(x: shown.x, y: shown.y, size: shown.size, of: shownSize))
        part = (part.x + stored.x, part.y + stored.y, stored.size)
    }

    static func == (one: HEIFTransform, other: HEIFTransform) -> Bool {
        one.part == other.part && one.turn == other.turn
    }
}
