extension RenderSteps {
    func areGeometry(on size: PixelSize) -> Bool { resolved().geometry(on: size) != nil }

    /// Returns the geometry for a gain map; nil if the steps do more than crop, resample and turn.
    ///
    /// The map is reduced to the result's size. For a small result it is enlarged up to twice, because only a map of
    /// the same size can restore details that the image lost.
    package func gainMapGeometry(mapSize: PixelSize, imageSize: PixelSize) -> GainMapGeometry? {
        guard let geometry = geometry(on: imageSize) else { return nil }
        let region = geometry.visibleRegion(of: imageSize)
        let shown = geometry.rectangle.size
        let mapSize = region.rounded(in: mapSize).size
        let isImageReduced = region.size.width > shown.width && region.size.height > shown.height
        let scale = isImageReduced && shown.area <= RenderPlan.maximumFullChromaPixels ? 2 : 1
        let isWithinReach = shown.width <= scale * mapSize.width && shown.height <= scale * mapSize.height
        let size =
            isWithinReach
            ? shown
            : PixelSize(width: Swift.min(shown.width, mapSize.width), height: Swift.min(shown.height, mapSize.height))
        let isFitted = isImageReduced && isWithinReach
        return GainMapGeometry(region: region, size: size, isFitted: isFitted, turn: geometry.turn)
    }

    /// Returns the combined geometry of the steps; nil if they do more than crop, resample and turn.
    private func geometry(on size: PixelSize) -> StepGeometry? {
        var geometry = StepGeometry(of: size)
        var isLeading = true
        for step in self {
            if isLeading, let next = step.geometry(after: geometry) {
                geometry = next
                continue
            }
            isLeading = false
            guard let crop = step as? CropStep, let next = geometry.cropped(afterTurn: crop) else { return nil }
            geometry = next
        }
        return geometry
    }
}

extension StepGeometry {
    fileprivate func cropped(afterTurn crop: CropStep) -> StepGeometry? {
        var upright = self
        upright.turn = .none
        let requestedRegion = RequestedRegion(ImageRegion(allOf: rectangle.size), turn: turn)
        var next = requestedRegion.beforeTurn(crop, in: turn.turned(rectangle.size)).geometry(after: upright)
        next?.turn = turn
        return next
    }

    /// Returns the visible region, in whole pixels of an image of size `whole`.
    fileprivate func visibleRegion(of whole: PixelSize) -> ImageRegion {
        let region = region ?? ImageRegion(allOf: whole)
        func edges(_ start: Int, length: Int, of resized: Int, from first: Int, count: Int) -> Range<Int> {
            func position(_ edge: Int) -> Int { first + (2 * edge * count + resized) / (2 * resized) }
            let left = min(position(start), first + count - 1)
            return left..<max(left + 1, position(start + length))
        }
        let across = edges(
            rectangle.x, length: rectangle.size.width, of: resizedSize.width, from: region.x, count: region.size.width)
        let down = edges(
            rectangle.y, length: rectangle.size.height, of: resizedSize.height, from: region.y,
            count: region.size.height)
        return ImageRegion(
            x: across.lowerBound, y: down.lowerBound, size: PixelSize(width: across.count, height: down.count),
            of: region.whole)
    }
}

package struct GainMapGeometry {
    package let region: ImageRegion
    package let size: PixelSize
    /// Whether to fit the map to the image averaged at this size.
    package let isFitted: Bool
    package let turn: QuarterTurn

    package var resampling: RenderSteps { [ResampleStep(to: size, of: region.isWhole ? nil : region)] }

    package var turning: RenderSteps { turn == .none ? [] : [TurnStep(turn)] }
}
