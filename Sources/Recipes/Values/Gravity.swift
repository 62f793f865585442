package enum Gravity: Sendable, Hashable {
    case center, top, topRight, right, bottomRight, bottom, bottomLeft, left, topLeft
    /// The most salient part, as measured by libvips.
    case attention
    case entropy
    /// The largest faces.
    case face
    case focal(x: Int, y: Int)
}

extension Gravity {
    /// The part of the remaining space to the left and above, in thousandths.
    var alignment: (x: Int, y: Int) {
        switch self {
        case .topLeft: (0, 0)
        case .top: (500, 0)
        case .topRight: (1_000, 0)
        case .left: (0, 500)
        case .center, .attention, .entropy, .face: (500, 500)
        case .right: (1_000, 500)
        case .bottomLeft: (0, 1_000)
        case .bottom: (500, 1_000)
        case .bottomRight: (1_000, 1_000)
        case .focal(let x, let y): (x, y)
        }
    }
}

extension PixelSize {
    /// Returns the upper left corner of a rectangle of size `inner` that is aligned in, or around, this size.
    package func corner(
        of inner: PixelSize, at gravity: Gravity, rounding rule: FloatingPointRoundingRule = .towardZero
    ) -> (x: Int, y: Int) {
        func start(_ space: Int, _ thousandths: Int) -> Int { Int((Double(space * thousandths) / 1_000).rounded(rule)) }
        let share = gravity.alignment
        return (start(width - inner.width, share.x), start(height - inner.height, share.y))
    }
}
