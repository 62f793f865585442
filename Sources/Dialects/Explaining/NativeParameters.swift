package import Imaging
import Text
import ThumbnailTypes

/// The closest equivalent of a plan in Alula's own parameters, and what they cannot express.
package struct NativeParameters {
    /// Names and values, in the documented order.
    package private(set) var items: [(name: String, value: String)] = []
    /// Descriptions of the steps without equivalent parameters.
    package private(set) var besides: [String] = []
    private var values: [ThumbnailParameter: String] = [:]
    /// The box that the image fills, before margins and free rotations.
    private var box: PixelSize
    private let additional: [AdditionalSource]

    /// Creates the parameters of a query with this plan; a native target's own parameters are kept.
    package init(of query: ThumbnailQuery, _ plan: RenderPlan) {
        box = plan.source.size
        additional = query.request.additional
        if let target = ThumbnailTarget.generate(query) {
            items = ((try? RawQuery(target: target).decoded()) ?? []).filter {
                $0.name != ThumbnailParameter.url.rawValue
            }
            return
        }
        read(plan)
        var shape = plan.source
        for step in plan.steps {
            let next = step.shape(after: shape)
            if !read(step, of: shape.size) { besides.append(step.words) }
            if !(step is MarginStep), !(step is RotationStep) { box = next.size }
            shape = next
        }
        values[.width] = String(box.width)
        values[.height] = String(box.height)
        if values[.fit] == nil { values[.fit] = Fit.cover.rawValue }
        if plan.isDataURL { besides.append("write the file as a data: URL") }
        values[.expires] = query.expires.map(String.init)
        items = ThumbnailParameter.allCases.compactMap { parameter in
            values[parameter].map { (name: parameter.rawValue, value: $0) }
        }
    }

    /// Reads the parameters of the decode and of the file.
    private mutating func read(_ plan: RenderPlan) {
        values[.format] = plan.format.rawValue
        switch plan.quality {
        case .fixed(let quality):
            if plan.format.hasQuality { values[.quality] = String(plan.visualQuality(of: quality)) }
        case .fitting(let bytes, let highest, _):
            values[.quality] = String(plan.visualQuality(of: highest))
            values[.maximumBytes] = String(bytes)
        case .similar: values[.quality] = "auto"
        }
        if plan.decode.page > 0 { values[.page] = String(plan.decode.page) }
        if plan.isAnimated { values[.animated] = "1" }
        if plan.bitDepth != plan.format.bitDepth { values[.avifBitDepth] = String(plan.bitDepth) }
        if plan.gamut != .srgb { values[.gamut] = plan.gamut.rawValue }
        if plan.attribution != nil { values[.keepCopyright] = "1" }
        if plan.decode.keepsGainMap { values[.hdr] = GainMapUse.keep.rawValue }
        if let border = plan.border {
            values[.trim] = String(border.tolerance)
            values[.trimColor] = border.color.map(Self.text)
        }
        if plan.timing != nil { besides.append("set the delays and loops of the animation") }
    }

    /// Converts a step to parameters; returns false if there is no equivalent, or another step has already set the
    /// parameter.
    private mutating func read(_ step: any RenderStep, of size: PixelSize) -> Bool {
        switch step {
        case let step as ResampleStep: return read(step)
        case let step as CropStep: return set(.gravity, Self.place(of: step, in: size))
        case let step as InterestStep: return set(.gravity, step.measure.rawValue)
        case let step as CanvasStep:
            let slack = (across: step.size.width - size.width, down: step.size.height - size.height)
            guard step.x == slack.across / 2, step.y == slack.down / 2,
                set(.fit, Fit.contain.rawValue)
            else { return false }
            return step.color.alpha == 0 || set(.background, Self.text(step.color))
        case let step as TurnStep: return read(step.turn)
        case let step as RotationStep:
            guard set(.rotate, String(step.degrees)) else { return false }
            return step.corners.alpha == 0 || set(.background, Self.text(step.corners))
        case let step as MarginStep:
            let margins = [step.margins.top, step.margins.right, step.margins.bottom, step.margins.left]
            guard set(.pad, margins.map(String.init).joined(separator: ",")) else { return false }
            return step.color.alpha == 0 || set(.background, Self.text(step.color))
        case let step as BackgroundStep: return set(.background, Self.text(step.color))
        case let step as GaussianStep:
            guard step.amount == 100 else { return false }
            return set(step.kind == .blur ? .blur : .sharpen, Self.text(Double(step.sigma) / 100_000))
        case let step as MosaicStep: return set(.pixelate, String(step.side))
        case let step as OutlineStep: return read(step)
        case let step as ColorStep: return read(step.filters)
        case let step as ColorMapStep: return step.map == .gray && set(.grayscale, "100")
        case let step as OverlayStep: return read(step)
        case is OpaqueStep: return true
        default: return false
        }
    }

    /// Sets a parameter, unless an earlier step has set it differently.
    private mutating func set(_ parameter: ThumbnailParameter, _ value: String?) -> Bool {
        guard let value, values[parameter].map({ $0 == value }) ?? true else { return false }
        values[parameter] = value
        return true
    }

    private mutating func read(_ resample: ResampleStep) -> Bool {
        // A second resize has no parameter; the size of the last one counts.
        guard values[.width] == nil else { return false }
        values[.width] = String(resample.size.width)
        guard let part = resample.part else { return true }
        return set(.crop, "\(part.x),\(part.y),\(part.size.width),\(part.size.height)")
    }

    private mutating func read(_ turn: QuarterTurn) -> Bool {
        if turn == .mirrorY { return set(.flip, "v") }
        guard !turn.isMirrored || set(.flip, "h") else { return false }
        return turn.quarters == 0 || set(.rotate, String(90 * turn.quarters))
    }

    private mutating func read(_ outline: OutlineStep) -> Bool {
        switch outline.shape {
        case .rounded(nil): return set(.radius, "max")
        case .rounded(let radius?): return set(.radius, Self.text(Double(radius) / 1_000))
        case .elliptic(let across, let down): return across == down && set(.radius, Self.text(Double(across) / 1_000))
        case .mask(let mask), .fitted(let mask): return set(.mask, mask.rawValue)
        }
    }

    private mutating func read(_ filters: ColorFilters) -> Bool {
        let all: [(ThumbnailParameter, Int, Int)] = [
            (.brightness, filters.brightness, 100), (.contrast, filters.contrast, 100),
            (.saturate, filters.saturation, 100), (.hue, filters.hue, 0), (.grayscale, filters.grayscale, 0),
            (.sepia, filters.sepia, 0), (.invert, filters.inversion, 0),
        ]
        return all.allSatisfy { parameter, value, standard in value == standard || set(parameter, String(value)) }
    }

    private mutating func read(_ overlay: OverlayStep) -> Bool {
        guard additional.indices ~= overlay.addition, values[.watermark] == nil else { return false }
        values[.watermark] = additional[overlay.addition].source.string
        values[.watermarkPosition] = "top-left"
        values[.watermarkX] = String(overlay.x)
        values[.watermarkY] = String(overlay.y)
        if overlay.opacity < 100 { values[.watermarkOpacity] = String(overlay.opacity) }
        return true
    }

    /// Returns the position of a crop in an image in terms of `gravity`; nil if there is none.
    private static func place(of crop: CropStep, in size: PixelSize) -> String? {
        func part(_ start: Int, _ slack: Int, _ names: (String, String)) -> String? {
            if slack == 0 || abs(2 * start - slack) <= 1 { return "" }
            return start == 0 ? names.0 : start == slack ? names.1 : nil
        }
        guard let down = part(crop.y, size.height - crop.size.height, ("top", "bottom")),
            let across = part(crop.x, size.width - crop.size.width, ("left", "right"))
        else { return nil }
        let name = [down, across].filter { !$0.isEmpty }.joined(separator: "-")
        return name.isEmpty ? "center" : name
    }

    private static func text(_ color: Color) -> String { ColorGrammar.text(color) }

    private static func text(_ number: Double) -> String {
        ParameterGrammar.text(Int((number * 100).rounded()), decimals: 2)
    }
}
