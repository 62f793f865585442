import Coordination

/// A trim, and how the plan goes on when its box is known.
///
/// Only the pixels tell what a border surrounds. Until then the plan has the steps for the untrimmed image, by which it is judged and
/// priced. The source is decoded at level 1: one differing pixel ends a border, and a reduced image would hide it in the mean of a box,
/// so that any part of the image could be lost.
package final class BorderTrim: Sendable {
    /// How the steps are found when the box is known.
    fileprivate enum Continuation: Hashable {
        /// By options of the contract.
        case options(RenderingOptions, ResamplingLight)
        /// By a recipe, for a source with these headers.
        case recipe(AnyRenderRecipe, ImageHeader, additions: [ImageHeader])
    }

    private let trim: ImageOperations.Trim
    private let continuation: Continuation
    private let limits: ImagingLimits

    private init(_ trim: ImageOperations.Trim, _ continuation: Continuation, limits: ImagingLimits) {
        (self.trim, self.continuation, self.limits) = (trim, continuation, limits)
    }

    /// The trim that `options` ask for; nil for none.
    convenience init?(_ options: RenderingOptions, light: ResamplingLight, limits: ImagingLimits) {
        guard let trim = options.operations.trim else { return nil }
        self.init(trim, .options(options, light), limits: limits)
    }

    /// The trim that a recipe asks for.
    convenience init(_ trim: ImageOperations.Trim, _ recipe: AnyRenderRecipe, of source: RecipeSource) {
        self.init(trim, .recipe(recipe, source.header, additions: source.additions), limits: source.limits)
    }

    /// The plan for `image`, whose source `plan` was made for.
    ///
    /// - Throws: ``ImagingError`` for a crop outside of the box and for a result that the limits or the format exclude, or the error of `token`.
    func resolved(_ plan: RenderPlan, for image: DecodedImage, token: WorkToken) throws -> RenderPlan {
        let box = try image.interleaved(token: token)
            .part(insideBorderOf: trim.color, tolerance: trim.tolerance, token: token)
        let resolved = plan.trimmed(to: try steps(for: box, of: plan))
        try resolved.check(limits, most: image.size.area)
        return resolved
    }

    private func steps(for box: ImagePart, of plan: RenderPlan) throws(ImagingError) -> RenderSteps {
        switch continuation {
        case .options(let options, let light):
            let wanted = try WantedPart(options.operations, of: box)
            return RenderLayout(options: options, source: wanted.size).steps(
                of: wanted, options: options, format: plan.format, hasAlpha: plan.source.hasAlpha, light: light)
        case .recipe(let recipe, let header, let additions):
            let composition = try recipe.recipe.composition(
                of: RecipeSource(header: header, box: box, additions: additions, limits: limits))
            return composition.allSteps(of: WantedPart(composition.part ?? box, turn: composition.turn))
        }
    }

    /// Bytes of the pixels in which the border is looked for, and of a result that is larger than that of the untrimmed image.
    func bytes(for source: PixelSize) -> Int {
        let most = mayEnlarge ? max(source.area, limits.maximumOutputPixels) : source.area
        let (bytes, overflow) = most.multipliedReportingOverflow(by: 8)
        return overflow ? .max / 2 : bytes
    }

    private var mayEnlarge: Bool {
        if case .options(let options, _) = continuation { options.enlarge } else { true }
    }

    /// The text in the key of a result: all that decides the steps once the box is known.
    var keyText: String {
        "trim \(trim.tolerance) \(trim.color?.keyText ?? "corner") \(continuation.keyText)"
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
        case .options(let options, _):
            return "box \(text(options.width))x\(text(options.height)) "
                + "\(options.devicePixelRatio) \(options.fit.rawValue) \(options.enlarge) \(options.gravity.keyText) "
                + "\(options.background?.keyText ?? "none") \(options.operations.crop?.keyText ?? "all")"
        }
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
