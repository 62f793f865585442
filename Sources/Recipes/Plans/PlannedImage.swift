/// An image after the operations of a recipe so far, and the draft of the plan that renders it.
///
/// Turns and crops before the first resample become part of the decode and the resample. Everything after that becomes
/// a step.
package struct PlannedImage {
    package let source: RecipeSource
    package let page: ImageHeader
    package private(set) var shape: FrameShape
    private let pageNumber: Int
    private let light: ResamplingLight
    private let isSizeFinal: Bool
    /// The region to keep, in pixels of the upright page.
    private var region: ImageRegion
    private var turn: QuarterTurn
    private var resampled: PixelSize?
    private var decidingSides: [RenderLayout.Side]?
    private var crop: CropStep?
    private var steps: RenderSteps = []
    private var additions: [RecipeAddition?]

    /// - Parameters:
    ///   - turn: The turn of the upright page with which the recipe starts; `page.orientation.inverse` for the stored
    ///     page.
    ///   - isTrimmed: Whether the plan trims a border; sizes are preliminary until the border is known.
    package init(
        _ source: RecipeSource, page pageNumber: Int = 0, turned turn: QuarterTurn = .none,
        light: ResamplingLight = .gamma, isTrimmed: Bool = false
    ) {
        self.source = source
        self.pageNumber = pageNumber
        self.turn = turn
        self.light = light
        isSizeFinal = !isTrimmed
        page = source.header.page(pageNumber)
        region = source.whole(ofPage: pageNumber)
        shape = FrameShape(size: turn.turned(region.size), hasAlpha: page.hasAlpha)
        additions = source.additions.map { _ in nil }
    }

    package var size: PixelSize { shape.size }
    package var hasAlpha: Bool { shape.hasAlpha }

    private var isUnresampled: Bool { resampled == nil && steps.isEmpty }

    package mutating func turn(_ next: QuarterTurn) {
        guard next != .none else { return }
        guard isUnresampled else { return apply(TurnStep(next)) }
        turn = turn.then(next)
        shape = FrameShape(size: next.turned(size), hasAlpha: hasAlpha)
    }

    package mutating func crop(_ cut: CropStep) {
        guard isUnresampled else { return apply(cut) }
        let inner = turn.inverse.turned(ImageRegion(x: cut.x, y: cut.y, size: cut.size, of: size))
        region = ImageRegion(x: region.x + inner.x, y: region.y + inner.y, size: inner.size, of: region.whole)
        shape = FrameShape(size: cut.size, hasAlpha: hasAlpha)
    }

    package mutating func resample(to size: PixelSize) {
        guard isUnresampled else { return apply(ResampleStep(to: size, in: light)) }
        resampled = size
        shape = FrameShape(size: size, hasAlpha: hasAlpha)
    }

    /// Resamples with a crop that is applied before the turn; `sides` determine the decode level.
    mutating func resample(to size: PixelSize, deciding sides: [RenderLayout.Side], crop cut: CropStep?) {
        resample(to: size)
        decidingSides = sides
        crop = cut
        if let cut { shape = FrameShape(size: cut.size, hasAlpha: hasAlpha) }
    }

    package mutating func apply(_ step: some RenderStep) {
        steps.append(step)
        shape = step.shape(after: shape)
    }

    /// Crops to faces or, if the service does not detect them, by attention.
    ///
    /// Faces can be used for the first page, if no step has cropped by content.
    ///
    /// - Parameter zoom: Zoom in percent; 0 crops to `size`.
    package mutating func cropToFaces(_ size: PixelSize, zoom: Int = 0) {
        var turn = turn
        for case let step as TurnStep in steps { turn = turn.then(step.turn) }
        let isShown = steps.allSatisfy { $0 is TurnStep || ($0 as? ResampleStep)?.region == nil && $0 is ResampleStep }
        guard source.rules.findsFaces, pageNumber == 0, isShown else {
            return apply(InterestStep(.attention, size: size))
        }
        apply(FaceStep(size: size, zoom: zoom, of: region, turned: turn))
    }

    package mutating func use(_ index: Int, scaledTo size: PixelSize) -> RecipeAddition {
        let addition = RecipeAddition(source.additions[index], scaledTo: size, isSizeFinal: isSizeFinal)
        use(index, addition: addition)
        return addition
    }

    mutating func use(_ index: Int, addition: RecipeAddition) { additions[index] = addition }

    package mutating func overlay(
        _ index: Int, scaledTo size: PixelSize, layout: OverlayLayout, opacity: Int,
        margins: ImageOperations.Margins = ImageOperations.Margins()
    ) {
        let addition = use(index, scaledTo: size)
        apply(
            OverlayStep(
                of: index, layout: layout, decoded: addition.decoded, opacity: opacity, light: light, margins: margins))
    }

    package func draft(as format: ImageFormat, quality: EncodingQuality) -> RenderDraft {
        var draft = RenderDraft(size: resampled ?? turn.turned(region.size), format: format, quality: quality)
        draft.page = pageNumber
        if !region.isWhole { draft.region = region }
        draft.turn = turn
        draft.decidingSides = decidingSides
        draft.crop = crop
        draft.light = light
        draft.steps = steps
        draft.additions = additions
        return draft
    }
}
