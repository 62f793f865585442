extension RenderSteps {
    /// Whether the steps cut, resample and turn an image of this size, and do nothing else.
    func areGeometry(on size: PixelSize) -> Bool { placed().geometry(on: size) != nil }

    /// How a gain map of size `map` follows these steps of its image; nil if they do more than cut, resample and turn
    /// it.
    ///
    /// The map becomes as large as the result, unless it is smaller: if it kept its own scale, a small result would
    /// show the coarseness of its map, which the source does not show. That of a small result is enlarged up to twice,
    /// because only a map of the result's size mends what its image lost.
    func ofGainMap(of map: PixelSize, for image: PixelSize) -> GainMapGeometry? {
        guard let target = geometry(on: image) else { return nil }
        let part = target.shownPart(of: image)
        let (shown, own) = (target.rectangle.size, part.rounded(in: map).size)
        let isImageReduced = part.size.width > shown.width && part.size.height > shown.height
        let scale = isImageReduced && shown.area <= RenderPlan.mostFullChromaPixels ? 2 : 1
        let isWithinReach = shown.width <= scale * own.width && shown.height <= scale * own.height
        let size =
            isWithinReach
            ? shown
            : PixelSize(width: Swift.min(shown.width, own.width), height: Swift.min(shown.height, own.height))
        let isFitted = isImageReduced && isWithinReach
        return GainMapGeometry(part: part, size: size, isFitted: isFitted, turn: target.turn)
    }

    /// The part, the size and the turn that the steps come to; nil if they do more than cut, resample and turn.
    ///
    /// A conversion to the gamut of the result is one of the image alone.
    private func geometry(on size: PixelSize) -> PlanarTarget? {
        let steps = RenderSteps(filter { !($0 is GamutStep) })
        var (target, count) = steps.planarTarget(from: PlanarTarget(of: size))
        for step in steps.dropFirst(count) {
            guard let crop = step as? CropStep, let next = target.cropped(afterTurn: crop) else { return nil }
            target = next
        }
        return target
    }
}

extension PlanarTarget {
    /// This target with a crop after its turn; nil if that is not within the image.
    fileprivate func cropped(afterTurn crop: CropStep) -> PlanarTarget? {
        var upright = self
        upright.turn = .none
        let wanted = WantedPart(ImagePart(allOf: rectangle.size), turn: turn)
        var next = wanted.beforeTurn(crop, in: turn.turned(rectangle.size)).target(after: upright)
        next?.turn = turn
        return next
    }

    /// The part of an image of size `whole` that is shown, in whole pixels of it.
    fileprivate func shownPart(of whole: PixelSize) -> ImagePart {
        let part = part ?? ImagePart(allOf: whole)
        func edges(_ start: Int, _ length: Int, of resized: Int, from first: Int, _ count: Int) -> (Int, Int) {
            func place(_ edge: Int) -> Int { first + (2 * edge * count + resized) / (2 * resized) }
            let left = min(place(start), first + count - 1)
            return (left, max(1, place(start + length) - left))
        }
        let across = edges(rectangle.x, rectangle.size.width, of: resizedSize.width, from: part.x, part.size.width)
        let down = edges(rectangle.y, rectangle.size.height, of: resizedSize.height, from: part.y, part.size.height)
        return ImagePart(
            x: across.0, y: down.0, size: PixelSize(width: across.1, height: down.1), of: part.whole)
    }
}

/// The part of an image whose gain map is shown, and how.
struct GainMapGeometry {
    let part: ImagePart
    /// Size of the map before it is turned.
    let size: PixelSize
    /// Whether the image is averaged to this size, so that the map is fitted to it.
    let isFitted: Bool
    /// The EXIF orientation that the map is turned from, 1…8.
    let turn: QuarterTurn

    /// The steps of a map that is not fitted to its image.
    var resampling: RenderSteps { [ResampleStep(to: size, of: part.isWhole ? nil : part)] }

    /// The steps after that.
    var turning: RenderSteps { turn == .none ? [] : [TurnStep(turn)] }
}
