/// How a picture is turned: quarter turns with the clock after a possible exchange of left and right.
struct Turn: Hashable {
    private var quarters = 0
    private var isMirrored = false

    /// Turns further, by quarters against the clock.
    mutating func rotate(counterclockwise count: Int) {
        quarters = (quarters + 4 - count % 4) % 4
    }

    /// Exchanges left and right, or else top and bottom, of the picture as it is turned so far.
    mutating func mirror(leftToRight: Bool) {
        quarters = (4 - quarters) % 4
        isMirrored.toggle()
        if !leftToRight { quarters = (quarters + 2) % 4 }
    }

    /// Whether width and height have changed places.
    var isSideways: Bool { quarters % 2 == 1 }

    /// The EXIF value that stands for this turn.
    var orientation: Int {
        isMirrored ? [2, 7, 4, 5][quarters] : [1, 6, 3, 8][quarters]
    }
}
