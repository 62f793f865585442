extension Layout {
    /// What is cut out of the resampled picture.
    ///
    /// The odd pixel of a centred cut goes to the right and the bottom.
    func crop(by gravity: Gravity) -> RenderPlan.Crop {
        guard let size = cropSize else { return .none }
        let slackX = resizedSize.width - size.width
        let slackY = resizedSize.height - size.height
        switch gravity {
        case .attention: return .attention(size: size)
        case .entropy: return .entropy(size: size)
        case .focal(let x, let y):
            return .rectangle(
                x: Layout.start(of: size.width, around: x, in: resizedSize.width),
                y: Layout.start(of: size.height, around: y, in: resizedSize.height), size: size)
        default:
            let (x, y) = gravity.share
            return .rectangle(x: slackX * x / 1_000, y: slackY * y / 1_000, size: size)
        }
    }

    /// Where the picture lies on its canvas; a focal point divides the margins in its own proportion.
    func canvas(by gravity: Gravity) -> RenderPlan.Canvas? {
        guard let size = canvasSize else { return nil }
        let (x, y) = gravity.share
        return RenderPlan.Canvas(
            size: size, x: (size.width - resizedSize.width) * x / 1_000,
            y: (size.height - resizedSize.height) * y / 1_000)
    }

    /// Start of a part of `length` with the point at `thousandths` of `whole` in its middle, as far as the edges allow.
    private static func start(of length: Int, around thousandths: Int, in whole: Int) -> Int {
        let start = max(0, 2 * whole * thousandths - 1_000 * length) / 2_000
        return min(start, whole - length)
    }
}

extension Gravity {
    /// How much of the room left over lies to the left and above, in thousandths.
    fileprivate var share: (x: Int, y: Int) {
        switch self {
        case .topLeft: (0, 0)
        case .top: (500, 0)
        case .topRight: (1_000, 0)
        case .left: (0, 500)
        case .center, .attention, .entropy: (500, 500)
        case .right: (1_000, 500)
        case .bottomLeft: (0, 1_000)
        case .bottom: (500, 1_000)
        case .bottomRight: (1_000, 1_000)
        case .focal(let x, let y): (x, y)
        }
    }
}
