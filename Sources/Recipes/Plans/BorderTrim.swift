/// A trim and the recipe that completes the plan once the border is known.
///
/// Until then, the plan has the steps for the untrimmed image, which determine its checks and cost. The source is
/// decoded at level 1: one different pixel ends a border, and a reduced image would hide it. A vector image is drawn
/// whole to find its border, then once more without it, at the size that the result needs.
package final class BorderTrim: Sendable {
    package let trim: ImageOperations.Trim
    private let recipe: AnyRenderRecipe
    private let source: RecipeSource
    private let mayGrow: Bool

    init(_ trim: ImageOperations.Trim, recipe: AnyRenderRecipe, of source: RecipeSource, mayGrow: Bool) {
        self.trim = trim
        self.recipe = recipe
        self.source = source
        self.mayGrow = mayGrow
    }

    /// Completes the plan; `box` is in pixels of an image of `size`.
    ///
    /// - Parameter isDrawnAnew: The vector image was drawn again without its border.
    package func resolved(
        _ plan: RenderPlan, inside box: ImageRegion, of size: PixelSize, isDrawnAnew: Bool
    ) throws(ImagingError) -> RenderPlan {
        let (draft, requestedRegion) = try draft(inside: box)
        let drawing = isDrawnAnew ? try secondDrawing(by: draft, of: requestedRegion) : nil
        let steps = draft.allSteps(of: requestedRegion, drawing: drawing)
        let resolved = plan.trimmed(to: steps, drawn: isDrawnAnew ? size : nil)
        try resolved.check(source.limits, maximum: size.area)
        return resolved
    }

    /// Returns the plan that draws a vector image again without the border.
    package func decodePlan(inside box: ImageRegion, of plan: DecodePlan) throws(ImagingError) -> DecodePlan {
        let (draft, requestedRegion) = try draft(inside: box)
        let drawing = try secondDrawing(by: draft, of: requestedRegion)
        return DecodePlan(
            page: plan.page, incompleteImages: plan.incompleteImages, drawnSize: drawing.size,
            drawnRegion: drawing.region)
    }

    package func timeCost(of plan: DecodePlan, of header: ImageHeader, fileByteCount: Int) -> Duration {
        let drawing = try? decodePlan(inside: ImageRegion(allOf: header.page(plan.page).size), of: plan)
        return drawing.map { header.timeCost(of: $0, fileByteCount: fileByteCount) } ?? .zero
    }

    private func draft(inside box: ImageRegion) throws(ImagingError) -> (RenderDraft, RequestedRegion) {
        let draft = try recipe.recipe.draft(of: source.with(box: box))
        return (draft, RequestedRegion(draft.region ?? box, turn: draft.turn))
    }

    private func secondDrawing(
        by draft: RenderDraft, of requestedRegion: RequestedRegion
    ) throws(ImagingError) -> VectorDrawing {
        try draft.drawing(
            of: requestedRegion, maximumPixels: source.limits.maximumOutputPixels, format: source.header.format)
    }

    /// Returns the bytes for the search for the border, and for a result that is larger than without the trim.
    func bytes(for size: PixelSize) -> Int {
        let maximum = mayGrow ? max(size.area, source.limits.maximumOutputPixels) : size.area
        let (bytes, overflow) = maximum.multipliedReportingOverflow(by: 8)
        return overflow ? .max / 2 : bytes
    }

    /// A description; the steps after it are for the whole image, because the border is not yet known.
    var summary: String {
        let border = trim.color.map { "a border of \($0.summary)" } ?? "the border"
        return "trim \(border), differences up to \(trim.tolerance)"
            + (trim.matte == nil ? "" : ", single pixels notwithstanding")
    }

    package var tolerance: Int { trim.tolerance }
    package var color: Color? { trim.color }

    /// The trim and the recipe, which determine the steps once the border is known.
    var keyText: String {
        "trim \(trim.tolerance) \(trim.color?.keyText ?? "corner") "
            + (trim.isDistance ? "distance " : "") + (trim.isFromBottomRight ? "bottom right " : "")
            + trim.keyText + recipe.recipe.keyText
    }
}

extension BorderTrim: Hashable {
    package static func == (one: BorderTrim, other: BorderTrim) -> Bool {
        one === other || one.source == other.source && one.keyText == other.keyText
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(trim) }
}

extension ImageOperations.Trim {
    /// The properties that only other dialects use; empty for the native one.
    fileprivate var keyText: String {
        (matte.map { "smoothed on \($0.keyText) " } ?? "") + (isEqualAcross ? "equal across " : "")
            + (isEqualDown ? "equal down " : "")
    }
}
