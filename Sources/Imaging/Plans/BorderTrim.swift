import Coordination

/// A trim, and how the plan goes on when its box is known.
///
/// Only the pixels tell what a border surrounds. Until then the plan has the steps for the untrimmed image, by which it is judged and
/// priced. The source is decoded at level 1: one differing pixel ends a border, and a reduced image would hide it in the mean of a box,
/// so that any part of the image could be lost.
package final class BorderTrim: Sendable {
    /// How the steps are found when the box is known.
    fileprivate enum Continuation: Hashable {
        /// By options of the contract, for a page with this header.
        case options(RenderingOptions, ResamplingLight, ImageHeader)
        /// By a recipe, for a source with these headers.
        case recipe(AnyRenderRecipe, ImageHeader, additions: [ImageHeader])
    }

    private let trim: ImageOperations.Trim
    private let continuation: Continuation
    private let limits: ImagingLimits

    private init(_ trim: ImageOperations.Trim, _ continuation: Continuation, limits: ImagingLimits) {
        (self.trim, self.continuation, self.limits) = (trim, continuation, limits)
    }

    /// The trim of a page that `options` ask for; nil for none.
    convenience init?(
        _ options: RenderingOptions, of page: ImageHeader, light: ResamplingLight, limits: ImagingLimits
    ) {
        guard let trim = options.operations.trim else { return nil }
        self.init(trim, .options(options, light, page), limits: limits)
    }

    /// The trim that a recipe asks for.
    convenience init(_ trim: ImageOperations.Trim, _ recipe: AnyRenderRecipe, of source: RecipeSource) {
        self.init(trim, .recipe(recipe, source.header, additions: source.additions), limits: source.limits)
    }

    /// The plan for `image`, whose source `plan` was made for.
    ///
    /// - Throws: ``ImagingError`` for a crop outside of the box and for a result that the limits or the format exclude, or the error of `token`.
    func resolved(_ plan: RenderPlan, for image: DecodedImage, token: WorkToken) throws -> RenderPlan {
        let box = try image.box ?? self.box(in: image, token: token)
        let isDrawnAnew = image.box != nil
        let steps = try remainder(inside: box, of: plan, isDrawnAnew: isDrawnAnew)
        let resolved = plan.trimmed(to: steps, drawn: isDrawnAnew ? image.size : nil)
        try resolved.check(limits, most: image.size.area)
        return resolved
    }

    /// The part of an image that the border surrounds, in pixels of the image.
    ///
    /// - Throws: The error of `token`.
    func box(in image: DecodedImage, token: WorkToken) throws -> ImagePart {
        try image.interleaved(token: token).part(inside: trim, token: token)
    }

    /// How an image of shapes is drawn that `plan` has decoded in its natural size, when the box that the border surrounds is known.
    ///
    /// - Throws: ``ImagingError`` for a crop outside of the box and for a drawing that the limits exclude.
    func drawing(inside box: ImagePart, of plan: DecodePlan) throws(ImagingError) -> DecodePlan {
        let drawing = try remains(of: box).drawing(limits)
        return DecodePlan(
            page: plan.page, incompleteImages: plan.incompleteImages, drawnSize: drawing.size, drawnPart: drawing.part)
    }

    /// The estimated time of one core for the second drawing of an image of shapes, as if it had no border.
    package func timePrice(of plan: DecodePlan, of header: ImageHeader, fileByteCount: Int) -> Duration {
        let drawing = try? drawing(inside: ImagePart(allOf: header.page(plan.page).size), of: plan)
        return drawing.map { header.timePrice(of: $0, fileByteCount: fileByteCount) } ?? .zero
    }

    /// The steps for what remains.
    private func remainder(
        inside box: ImagePart, of plan: RenderPlan, isDrawnAnew: Bool
    ) throws(ImagingError) -> RenderSteps {
        let rest = try remains(of: box)
        let alone = isDrawnAnew ? try rest.drawing(limits) : nil
        switch rest {
        case .layout(let layout, let wanted, let options, let light):
            return layout.steps(
                of: wanted, options: options, format: plan.format, hasAlpha: plan.source.hasAlpha, light: light,
                drawnAlone: alone?.part == nil ? nil : alone?.size)
        case .composition(let composition, let wanted):
            return composition.allSteps(of: wanted, isDrawnAlone: alone?.part != nil)
        }
    }

    /// What is made of what the border surrounds.
    private enum Remains {
        case layout(RenderLayout, WantedPart, RenderingOptions, ResamplingLight)
        case composition(Composition, WantedPart)

        /// The size and the part in which an image of shapes is drawn.
        func drawing(_ limits: ImagingLimits) throws(ImagingError) -> (size: PixelSize, part: DrawnPart?) {
            switch self {
            case .layout(let layout, let wanted, let options, _):
                try wanted.drawing(
                    for: layout.resizedSize, crop: layout.crop(by: options.gravity) as? CropStep,
                    maximumPixels: limits.maximumOutputPixels)
            case .composition(let composition, let wanted):
                try wanted.drawing(for: composition.size, maximumPixels: limits.maximumOutputPixels)
            }
        }
    }

    private func remains(of box: ImagePart) throws(ImagingError) -> Remains {
        switch continuation {
        case .options(let options, let light, let page):
            let wanted = try WantedPart(options.operations, of: box)
            return .layout(RenderLayout(options: options, of: wanted, in: page), wanted, options, light)
        case .recipe(let recipe, let header, let additions):
            let composition = try recipe.recipe.composition(
                of: RecipeSource(header: header, box: box, additions: additions, limits: limits))
            return .composition(composition, WantedPart(composition.part ?? box, turn: composition.turn))
        }
    }

    /// Bytes of the pixels in which the border is looked for, and of a result that is larger than that of the untrimmed image.
    func bytes(for source: PixelSize) -> Int {
        let most = mayEnlarge ? max(source.area, limits.maximumOutputPixels) : source.area
        let (bytes, overflow) = most.multipliedReportingOverflow(by: 8)
        return overflow ? .max / 2 : bytes
    }

    private var mayEnlarge: Bool {
        if case .options(let options, _, let page) = continuation {
            options.enlarge || page.drawing != nil
        } else {
            true
        }
    }

    /// The text in the key of a result: all that decides the steps once the box is known.
    var keyText: String {
        "trim \(trim.tolerance) \(trim.color?.keyText ?? "corner") "
            + (trim.isDistance ? "distance " : "") + (trim.isFromBottomRight ? "bottom right " : "")
            + trim.keyText + continuation.keyText
    }
}

extension BorderTrim: Hashable {
    package static func == (one: BorderTrim, other: BorderTrim) -> Bool {
        one === other
            || one.trim == other.trim && one.continuation == other.continuation && one.limits == other.limits
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(trim) }
}

extension BorderTrim.Continuation {
    fileprivate var keyText: String {
        func text(_ side: Int?) -> String { side.map(String.init) ?? "any" }
        switch self {
        case .recipe(let recipe, _, _): return recipe.recipe.keyText
        case .options(let options, _, _):
            return "box \(text(options.width))x\(text(options.height)) "
                + "\(options.devicePixelRatio) \(options.fit.rawValue) \(options.enlarge) \(options.gravity.keyText) "
                + "\(options.background?.keyText ?? "none") \(options.operations.crop?.keyText ?? "all")"
        }
    }
}

extension ImageOperations.Trim {
    /// What is said only of a trim that is not the native one.
    fileprivate var keyText: String {
        (matte.map { "smoothed on \($0.keyText) " } ?? "") + (isEqualAcross ? "equal across " : "")
            + (isEqualDown ? "equal down " : "")
    }
}

extension ImageOperations.Crop {
    fileprivate var keyText: String {
        switch self {
        case .pixels(let x, let y, let width, let height): "\(x),\(y) \(width)x\(height)"
        case .fractions(let x, let y, let width, let height): "\(x),\(y) \(width)x\(height) of 10000"
        }
    }
}

extension Gravity {
    /// The place in the key of a result.
    var keyText: String {
        switch self {
        case .center: "center"
        case .top: "top"
        case .topRight: "topRight"
        case .right: "right"
        case .bottomRight: "bottomRight"
        case .bottom: "bottom"
        case .bottomLeft: "bottomLeft"
        case .left: "left"
        case .topLeft: "topLeft"
        case .attention: "attention"
        case .entropy: "entropy"
        case .focal(let x, let y): "focal(x: \(x), y: \(y))"
        }
    }
}
