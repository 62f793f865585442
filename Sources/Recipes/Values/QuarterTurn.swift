/// An optional mirror followed by quarter turns: all EXIF orientations, rotations by 90° and mirrors.
package struct QuarterTurn: Hashable, Sendable {
    package let isMirrored: Bool
    /// Quarter turns clockwise, 0…3.
    package let quarters: Int

    package static let none = QuarterTurn()
    package static let mirrorX = QuarterTurn(isMirrored: true)
    package static let mirrorY = QuarterTurn(isMirrored: true, quarters: 2)
    private static let plain = [1, 6, 3, 8]
    private static let mirrored = [2, 7, 4, 5]

    /// - Parameter quarters: Any number; negative numbers turn counterclockwise.
    package init(isMirrored: Bool = false, quarters: Int = 0) {
        self.isMirrored = isMirrored
        self.quarters = quarters & 3
    }

    /// Returns the turn that makes an image with an EXIF orientation upright; nil outside 1…8.
    package init?(exif: Int) {
        if let quarters = Self.plain.firstIndex(of: exif) {
            self.init(quarters: quarters)
        } else if let quarters = Self.mirrored.firstIndex(of: exif) {
            self.init(isMirrored: true, quarters: quarters)
        } else {
            return nil
        }
    }

    /// The EXIF orientation that this turn makes upright, 1…8.
    package var exif: Int { isMirrored ? Self.mirrored[quarters] : Self.plain[quarters] }

    package var exchangesSides: Bool { !quarters.isMultiple(of: 2) }

    package var reversesColumns: Bool { isMirrored ? quarters < 2 : quarters >= 2 }

    package var reversesRows: Bool { quarters == 1 || quarters == 2 }

    package func then(_ next: QuarterTurn) -> QuarterTurn {
        QuarterTurn(
            isMirrored: isMirrored != next.isMirrored,
            quarters: (next.isMirrored ? -quarters : quarters) + next.quarters)
    }

    package var inverse: QuarterTurn { isMirrored ? self : QuarterTurn(quarters: -quarters) }

    package func turned(_ size: PixelSize) -> PixelSize { exchangesSides ? size.exchanged : size }

    package func turned(_ region: ImageRegion) -> ImageRegion {
        let (x, y) = corner(
            region.x, region.y, of: (region.size.width, region.size.height),
            in: (region.whole.width, region.whole.height))
        return ImageRegion(x: x, y: y, size: turned(region.size), of: turned(region.whole))
    }

    package func corner<Length: SignedNumeric>(
        _ x: Length, _ y: Length, of region: (width: Length, height: Length), in whole: (width: Length, height: Length)
    ) -> (x: Length, y: Length) {
        let x = reversesColumns ? whole.width - x - region.width : x
        let y = reversesRows ? whole.height - y - region.height : y
        return exchangesSides ? (y, x) : (x, y)
    }
}
