import CVips
import Coordination

/// Takes the steps of a render plan with one frame after the other; what the first frame decides holds for all.
struct FrameComposer {
    private let plan: RenderPlan
    private let token: WorkToken
    /// Where the interesting part of the first frame begins.
    private var interest: (left: Int, top: Int)?

    init(plan: RenderPlan, token: WorkToken) {
        self.plan = plan
        self.token = token
    }

    /// The finished frame, not computed yet.
    mutating func compose(_ source: VipsImage) throws -> VipsImage {
        let grounded = try ground(crop(source.resampled(to: plan.resizedSize, in: plan.light)))
        let finished = try plan.canvas.map { canvas throws(VipsError) in try lay(grounded, on: canvas) } ?? grounded
        guard finished.width == plan.outputSize.width, finished.height == plan.outputSize.height else {
            throw VipsError(text: "\(finished.width)×\(finished.height) instead of \(plan.outputSize)")
        }
        return finished
    }

    private mutating func crop(_ image: VipsImage) throws -> VipsImage {
        switch plan.crop {
        case .none: image
        case .rectangle(let x, let y, let size):
            try image.extracted(left: x, top: y, width: size.width, height: size.height)
        case .attention(let size): try crop(image, to: size, by: VIPS_INTERESTING_ATTENTION)
        case .entropy(let size): try crop(image, to: size, by: VIPS_INTERESTING_ENTROPY)
        }
    }

    private mutating func crop(_ image: VipsImage, to size: PixelSize, by measure: VipsInteresting) throws -> VipsImage
    {
        // The measure reads the pixels several times.
        image.watch(token)
        let computed = try image.computed()
        try token.check()
        let origin = try interest ?? computed.smartCropOrigin(for: size, by: measure)
        interest = origin
        return try computed.extracted(left: origin.left, top: origin.top, width: size.width, height: size.height)
    }

    /// Puts the background behind what is transparent.
    private func ground(_ image: VipsImage) throws(VipsError) -> VipsImage {
        guard image.hasAlpha else { return image }
        guard plan.format.supportsAlpha else { return try image.flattenedInColor(on: plan.background ?? .white) }
        guard let background = plan.background else { return image }
        if background.alpha == 255 { return try image.flattenedInColor(on: background) }
        return try image.inColor().composited(over: background)
    }

    /// Surrounds a picture that has its background already.
    private func lay(_ image: VipsImage, on canvas: RenderPlan.Canvas) throws(VipsError) -> VipsImage {
        let color = plan.background ?? (plan.format.supportsAlpha ? .transparent : .white)
        var picture = try color.isGrey ? image : image.inColor()
        if color.alpha < 255 { picture = try picture.withAlpha() }
        let components = color.components(bands: picture.bands)
        return try picture.embedded(left: canvas.x, top: canvas.y, in: canvas.size, background: components)
    }
}

extension Color {
    fileprivate var isGrey: Bool { red == green && green == blue }

    /// The values of a pixel of this colour.
    fileprivate func components(bands: Int) -> [Double] {
        let color = bands < 3 ? [red] : [red, green, blue]
        return (bands.isMultiple(of: 2) ? color + [alpha] : color).map(Double.init)
    }
}

extension VipsImage {
    /// This picture in three colours, if it is grey.
    fileprivate func inColor() throws(VipsError) -> VipsImage {
        bands < 3 ? try converted(to: VIPS_INTERPRETATION_sRGB) : self
    }

    fileprivate func flattenedInColor(on background: Color) throws(VipsError) -> VipsImage {
        try (background.isGrey ? self : inColor()).flattened(on: background)
    }
}
