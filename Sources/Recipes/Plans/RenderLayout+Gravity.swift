extension RenderLayout {
    /// The crop to the output size; nil for the whole image.
    ///
    /// If a centered crop removes an odd number of pixels, the right and bottom edges lose one more.
    func crop(by gravity: Gravity) -> (any RenderStep)? {
        guard let size = cropSize else { return nil }
        let slackX = resizedSize.width - size.width
        let slackY = resizedSize.height - size.height
        switch gravity {
        case .attention, .face: return InterestStep(.attention, size: size)
        case .entropy: return InterestStep(.entropy, size: size)
        case .focal(let x, let y):
            return CropStep(
                x: RenderLayout.start(of: size.width, around: x, in: resizedSize.width),
                y: RenderLayout.start(of: size.height, around: y, in: resizedSize.height), size: size)
        default:
            let (x, y) = gravity.alignment
            return CropStep(x: slackX * x / 1_000, y: slackY * y / 1_000, size: size)
        }
    }

    /// The canvas around the image; a focal point divides the margins in its proportion.
    func canvas(by gravity: Gravity, color: Color) -> CanvasStep? {
        guard let size = canvasSize else { return nil }
        let (x, y) = gravity.alignment
        return CanvasStep(
            size: size, x: (size.width - resizedSize.width) * x / 1_000,
            y: (size.height - resizedSize.height) * y / 1_000, color: color)
    }

    /// Enlargement for a zoom to faces, at most to the source's resolution.
    func enlargement(forZoom percent: Int, of source: PixelSize) -> Double {
        let most = min(
            Double(source.width) / Double(resizedSize.width), Double(source.height) / Double(resizedSize.height))
        return max(1, min(most, Self.largestEnlargement, 100 / Double(max(1, 100 - percent))))
    }

    private static let largestEnlargement = 4.0

    /// The start of a range around `thousandths` of `whole`, kept within the edges.
    private static func start(of length: Int, around thousandths: Int, in whole: Int) -> Int {
        let start = max(0, 2 * whole * thousandths - 1_000 * length) / 2_000
        return min(start, whole - length)
    }
}

extension PixelSize {
    func enlarged(by factor: Double) -> PixelSize {
        PixelSize(width: Int((Double(width) * factor).rounded()), height: Int((Double(height) * factor).rounded()))
    }
}

extension Gravity {
    /// The part of the remaining space to the left and above, in thousandths.
    package var alignment: (x: Int, y: Int) {
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
