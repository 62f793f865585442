/// The part of a source that a render shows, and its turn.
///
/// Resampling comes before the turn, so that fewer pixels are turned.
struct RequestedPart {
    /// The part in pixels of the upright source; nil for the whole source.
    let part: ImagePart?
    let turn: QuarterTurn
    let naturalPart: ImagePart

    /// - Parameter box: The whole source, or the part that remains after a trim.
    init(_ operations: ImageOperations, of box: ImagePart) throws(ImagingError) {
        self.init(try operations.crop?.part(of: box) ?? box, turn: operations.turn)
    }

    init(_ part: ImagePart, turn: QuarterTurn) {
        self.part = part.isWhole ? nil : part
        naturalPart = part
        self.turn = turn
    }

    var size: PixelSize { turn.turned(naturalPart.size) }

    func sizeBeforeTurn(_ size: PixelSize) -> PixelSize { turn.inverse.turned(size) }

    /// The size at which to draw a vector image so that the part has `size` after the turn.
    ///
    /// The whole image is drawn and then cropped; if that takes more pixels than allowed, only the returned part is.
    ///
    /// - Parameter crop: The crop of the resampled image after the turn; nil for none.
    func drawing(
        for size: PixelSize, crop: CropStep? = nil, maximumPixels: Int, longestSide: Int
    ) throws(ImagingError) -> (size: PixelSize, part: DrawnPart?) {
        // Guards the multiplication below against overflow.
        guard max(size.width, size.height) <= PixelSize.maximumSide else { throw .tooManyPixels(size) }
        let whole = drawnSize(for: size)
        let isTooLarge = whole.area > maximumPixels || max(whole.width, whole.height) > longestSide
        guard isTooLarge, part != nil || crop != nil else { return (whole, nil) }
        let cropped = crop.map { beforeTurn($0, in: size) }
        let scaled = sizeBeforeTurn(size)
        return (
            cropped?.size ?? scaled,
            DrawnPart(of: naturalPart, scaledTo: scaled, x: cropped?.x ?? 0, y: cropped?.y ?? 0)
        )
    }

    /// The smallest size of the whole source with a part of at least `size` after the turn.
    private func drawnSize(for size: PixelSize) -> PixelSize {
        let needed = sizeBeforeTurn(size)
        guard let part else { return needed }
        func side(_ whole: Int, _ needed: Int, of part: Int) -> Int { (whole * needed + part - 1) / part }
        return PixelSize(
            width: side(part.whole.width, needed.width, of: part.size.width),
            height: side(part.whole.height, needed.height, of: part.size.height))
    }

    /// The crop before the turn, for a crop after it; `whole` is the size after the turn.
    func beforeTurn(_ crop: CropStep, in whole: PixelSize) -> CropStep {
        let part = turn.inverse.turned(ImagePart(x: crop.x, y: crop.y, size: crop.size, of: whole))
        return CropStep(x: part.x, y: part.y, size: part.size)
    }
}

extension ImageOperations {
    fileprivate var turn: QuarterTurn {
        let mirror: QuarterTurn =
            switch flip {
            case .horizontal: .mirrorX
            case .vertical: .mirrorY
            case .both: .mirrorX.then(.mirrorY)
            case nil: .none
            }
        return mirror.then(QuarterTurn(quarters: rotation.isMultiple(of: 90) ? rotation / 90 : 0))
    }

    var freeRotation: Int? { rotation.isMultiple(of: 90) ? nil : rotation }
}

extension ImageOperations.Crop {
    fileprivate func part(of box: ImagePart) throws(ImagingError) -> ImagePart {
        func share(_ fraction: Int, of side: Int) -> Int { (2 * fraction * side + 10_000) / 20_000 }
        let (left, top, width, height) =
            switch self {
            case .pixels(let x, let y, let width, let height): (x, y, width, height)
            case .fractions(let x, let y, let width, let height):
                (
                    share(x, of: box.size.width), share(y, of: box.size.height),
                    max(1, share(width, of: box.size.width)), max(1, share(height, of: box.size.height))
                )
            }
        guard left < box.size.width, top < box.size.height else { throw .cropOutside(box.size) }
        return ImagePart(
            x: box.x + left, y: box.y + top,
            size: PixelSize(width: min(width, box.size.width - left), height: min(height, box.size.height - top)),
            of: box.whole)
    }
}
