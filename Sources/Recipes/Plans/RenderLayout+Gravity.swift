extension RenderLayout {
    /// Returns the crop to the output size; nil for the whole image.
    ///
    /// If a centered crop removes an odd number of pixels, the right and bottom edges lose one more.
    func crop(by gravity: Gravity) -> (any RenderStep)? {
        guard let size = cropSize else { return nil }
        switch gravity {
        case .attention, .face: return InterestStep(.attention, size: size)
        case .entropy: return InterestStep(.entropy, size: size)
        case .focal(let x, let y):
            return CropStep(
                x: RenderLayout.start(of: size.width, around: x, in: resizedSize.width),
                y: RenderLayout.start(of: size.height, around: y, in: resizedSize.height), size: size)
        default: return CropStep(to: size, of: resizedSize, at: gravity)
        }
    }

    /// Returns the canvas around the image; a focal point divides the margins in its proportion.
    func canvas(by gravity: Gravity, color: Color) -> CanvasStep? {
        canvasSize.map { CanvasStep(size: $0, around: resizedSize, at: gravity, color: color) }
    }

    /// Returns the enlargement for a zoom to faces, at most to the source's resolution.
    func enlargement(forZoom percent: Int, of source: PixelSize) -> Double {
        let most = min(
            Double(source.width) / Double(resizedSize.width), Double(source.height) / Double(resizedSize.height))
        return max(1, min(most, Self.largestEnlargement, 100 / Double(max(1, 100 - percent))))
    }

    private static let largestEnlargement = 4.0

    /// Returns the start of a range around `thousandths` of `whole`, kept within the edges.
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
