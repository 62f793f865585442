import Coordination

/// A trim, and how the plan goes on when its box is known.
///
/// Only the pixels tell what a border surrounds. Until then the plan has the steps for the untrimmed image, by which it is judged and
/// priced. The source is decoded at level 1: one differing pixel ends a border, and a reduced image would hide it in the mean of a box,
/// so that any part of the image could be lost.
package final class BorderTrim: Sendable {
    private let trim: ImageOperations.Trim
    private let options: RenderingOptions
    private let light: ResamplingLight
    private let limits: ImagingLimits

    /// The trim that `options` ask for; nil for none.
    init?(_ options: RenderingOptions, light: ResamplingLight, limits: ImagingLimits) {
        guard let trim = options.operations.trim else { return nil }
        (self.trim, self.options, self.light, self.limits) = (trim, options, light, limits)
    }

    /// The plan for `image`, whose source `plan` was made for.
    ///
    /// - Throws: ``ImagingError`` for a crop outside of the box and for a result that the limits or the format exclude, or the error of `token`.
    func resolved(_ plan: RenderPlan, for image: DecodedImage, token: WorkToken) throws -> RenderPlan {
        let box = try image.interleaved(token: token)
            .part(insideBorderOf: trim.color, tolerance: trim.tolerance, token: token)
        let wanted = try WantedPart(options.operations, of: box)
        let layout = RenderLayout(options: options, source: wanted.size)
        let steps = layout.steps(
            of: wanted, options: options, format: plan.format, hasAlpha: plan.source.hasAlpha, light: light)
        let resolved = plan.trimmed(to: steps)
        try resolved.check(limits, most: image.size.area)
        return resolved
    }

    /// Bytes of the pixels in which the border is looked for, and of a result that is larger than that of the untrimmed image.
    func bytes(for source: PixelSize) -> Int {
        let most = options.enlarge ? max(source.area, limits.maximumOutputPixels) : source.area
        let (bytes, overflow) = most.multipliedReportingOverflow(by: 8)
        return overflow ? .max / 2 : bytes
    }

    /// The text in the key of a result: all that decides the steps once the box is known.
    var keyText: String {
        func text(_ side: Int?) -> String { side.map(String.init) ?? "any" }
        return
            "trim \(trim.tolerance) \(trim.color?.keyText ?? "corner") box \(text(options.width))x\(text(options.height)) "
            + "\(options.devicePixelRatio) \(options.fit.rawValue) \(options.enlarge) \(options.gravity.keyText) "
            + "\(options.background?.keyText ?? "none") \(options.operations.crop?.keyText ?? "all")"
    }
}

extension BorderTrim: Hashable {
    package static func == (one: BorderTrim, other: BorderTrim) -> Bool {
        one === other || one.options == other.options && one.light == other.light && one.limits == other.limits
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(options) }
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
