/// The region of a source that a render shows, and its turn.
///
/// Resampling comes before the turn, so that fewer pixels are turned.
struct RequestedRegion {
    /// The region in pixels of the upright source.
    let region: ImageRegion
    let turn: QuarterTurn

    /// - Parameter box: The whole source, or the region that remains after a trim.
    init(_ operations: ImageOperations, of box: ImageRegion) throws(ImagingError) {
        self.init(try operations.crop?.region(of: box) ?? box, turn: operations.turn)
    }

    init(_ region: ImageRegion, turn: QuarterTurn) {
        self.region = region
        self.turn = turn
    }

    /// The region; nil for the whole source.
    var croppedRegion: ImageRegion? { region.isWhole ? nil : region }

    var size: PixelSize { turn.turned(region.size) }

    func sizeBeforeTurn(_ size: PixelSize) -> PixelSize { turn.inverse.turned(size) }

    /// Returns the drawing of a vector image in which the region has `size` after the turn.
    ///
    /// - Parameter crop: The crop of the resampled image after the turn; nil for none.
    func drawing(
        for size: PixelSize, crop: CropStep? = nil, maximumPixels: Int, longestSide: Int
    ) throws(ImagingError) -> VectorDrawing {
        // Guards the multiplication below against overflow.
        guard max(size.width, size.height) <= PixelSize.maximumSide else { throw .tooManyPixels(size) }
        let wholeSize = wholeSize(withRegionOf: size)
        let isTooLarge = wholeSize.area > maximumPixels || max(wholeSize.width, wholeSize.height) > longestSide
        guard isTooLarge, croppedRegion != nil || crop != nil else { return VectorDrawing(size: wholeSize) }
        let cropped = crop.map { beforeTurn($0, in: size) }
        let scaledSize = sizeBeforeTurn(size)
        return VectorDrawing(
            size: cropped?.size ?? scaledSize,
            region: DrawnRegion(of: region, scaledTo: scaledSize, x: cropped?.x ?? 0, y: cropped?.y ?? 0))
    }

    /// Returns the smallest size of the whole source in which the region has at least `size` after the turn.
    private func wholeSize(withRegionOf size: PixelSize) -> PixelSize {
        let needed = sizeBeforeTurn(size)
        func side(_ whole: Int, _ needed: Int, of length: Int) -> Int { (whole * needed + length - 1) / length }
        return PixelSize(
            width: side(region.whole.width, needed.width, of: region.size.width),
            height: side(region.whole.height, needed.height, of: region.size.height))
    }

    /// Returns the crop before the turn, for a crop after it; `whole` is the size after the turn.
    func beforeTurn(_ crop: CropStep, in whole: PixelSize) -> CropStep {
        let region = turn.inverse.turned(ImageRegion(x: crop.x, y: crop.y, size: crop.size, of: whole))
        return CropStep(x: region.x, y: region.y, size: region.size)
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
    fileprivate func region(of box: ImageRegion) throws(ImagingError) -> ImageRegion {
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
        return ImageRegion(
            x: box.x + left, y: box.y + top,
            size: PixelSize(width: min(width, box.size.width - left), height: min(height, box.size.height - top)),
            of: box.whole)
    }
}

/// The drawing of a vector image.
///
/// Usually the whole image is drawn, and the steps crop it. If that takes too many pixels, only the region of the
/// result is drawn, at its final size.
struct VectorDrawing {
    /// The size in pixels.
    let size: PixelSize
    /// The region to draw; nil for the whole image.
    var region: DrawnRegion?
}
