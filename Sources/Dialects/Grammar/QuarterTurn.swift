import Imaging

/// A mirror from left to right or none, and then quarter turns clockwise: all that EXIF orientations, rotations and
/// mirrors do.
struct QuarterTurn: Hashable, Sendable {
    /// Whether left and right are exchanged first.
    var isMirrored = false
    /// Quarter turns clockwise, 0…3.
    var quarters = 0

    static let none = QuarterTurn()
    /// Left and right exchanged.
    static let mirrorX = QuarterTurn(isMirrored: true)
    /// Top and bottom exchanged.
    static let mirrorY = QuarterTurn(isMirrored: true, quarters: 2)

    private static let plain = [1, 6, 3, 8]
    private static let mirrored = [2, 7, 4, 5]

    /// A mirror and quarter turns.
    init(isMirrored: Bool = false, quarters: Int = 0) {
        self.isMirrored = isMirrored
        self.quarters = quarters & 3
    }

    /// The turn that makes an image of this EXIF orientation upright.
    init(fromOrientation orientation: Int) {
        if let quarters = Self.mirrored.firstIndex(of: orientation) {
            self.init(isMirrored: true, quarters: quarters)
        } else {
            self.init(quarters: Self.plain.firstIndex(of: orientation) ?? 0)
        }
    }

    /// The EXIF orientation that this makes upright, 1…8.
    var orientation: Int { isMirrored ? Self.mirrored[quarters] : Self.plain[quarters] }

    /// Whether width and height are exchanged.
    var exchangesSides: Bool { !quarters.isMultiple(of: 2) }

    /// This, and then `next`.
    func then(_ next: QuarterTurn) -> QuarterTurn {
        QuarterTurn(
            isMirrored: isMirrored != next.isMirrored,
            quarters: (next.isMirrored ? 4 - quarters : quarters) + next.quarters)
    }

    /// The turn that undoes this one.
    var inverse: QuarterTurn { isMirrored ? self : QuarterTurn(quarters: 4 - quarters) }

    /// The size of an image of `size` after this.
    func turned(_ size: PixelSize) -> PixelSize {
        exchangesSides ? PixelSize(width: size.height, height: size.width) : size
    }

    /// The place of a part after this.
    func turned(_ part: ImagePart) -> ImagePart {
        var (x, y, size, whole) = (part.x, part.y, part.size, part.whole)
        if isMirrored { x = whole.width - x - size.width }
        for _ in 0..<quarters {
            (x, y) = (whole.height - y - size.height, x)
            size = PixelSize(width: size.height, height: size.width)
            whole = PixelSize(width: whole.height, height: whole.width)
        }
        return ImagePart(x: x, y: y, size: size, of: whole)
    }
}
