package struct BlendStep: AdditionStep {
    package enum Paint: Hashable, Sendable {
        /// An index in ``RenderPlan/additions``; `decoded` is a frame of it, for the cost.
        case addition(Int, form: AdditionForm, decoded: FrameShape)
        case color(Color, size: PixelSize)
    }

    package let paint: Paint
    package let across: CopyPositions
    package let down: CopyPositions
    package let mode: BlendMode
    package let opacity: Int
    private static let time = 2.0
    private static let timeOfCopy = 200.0

    package init(_ paint: Paint, across: CopyPositions, down: CopyPositions, mode: BlendMode = .normal, opacity: Int) {
        self.paint = paint
        self.across = across
        self.down = down
        self.mode = mode
        self.opacity = opacity
    }

    /// - Parameters:
    ///   - addition: An index in ``RenderPlan/additions``.
    ///   - layout: The size; the position is ignored.
    ///   - decoded: A frame of the decoded source.
    package init(
        of addition: Int, layout: OverlayLayout, decoded: FrameShape, across: CopyPositions, down: CopyPositions,
        mode: BlendMode = .normal, opacity: Int
    ) {
        self.init(
            .addition(addition, form: AdditionForm(layout, light: .gamma), decoded: decoded), across: across,
            down: down, mode: mode, opacity: opacity)
    }

    private var size: PixelSize {
        switch paint {
        case .addition(_, let form, _): form.size
        case .color(_, let size): size
        }
    }

    var additionForm: AdditionForm? { if case .addition(_, let form, _) = paint { form } else { nil } }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: input.size, hasAlpha: input.hasAlpha || mode.addsAlpha)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        let copies = Double(across.count) * Double(down.count) * Double(size.area)
        let laid = min(copies, 4 * Double(work.input.size.area))
        let starts = Double(across.count) * Double(down.count) * Self.timeOfCopy
        let filter = StepCost.filtering(work, time: Self.time)
        var cost = StepCost(perFrame: filter.perFrame + starts + laid * mode.time, bytes: filter.bytes)
        if case .addition(_, let form, let decoded) = paint {
            let scaling = form.cost(from: decoded, on: work.input, perFrame: 0)
            cost.once = scaling.once
            cost.bytes += scaling.bytes
        }
        return cost
    }

    package var keyText: String {
        let paint =
            switch paint {
            case .addition(let addition, let form, _): "\(addition) \(form.keyText)"
            case .color(let color, let size): "\(color.keyText) \(size.keyText)"
            }
        let positions = [across, down].map { "\($0.start)*\($0.count)+\($0.pitch)" }.joined(separator: " ")
        return "blend \(mode.rawValue) \(paint) at \(positions) \(opacity)"
    }

    package var summary: String {
        let subject =
            switch paint {
            case .addition(let addition, let form, _): "additional source \(addition + 1) as \(form.size) pixels"
            case .color(let color, let size): "\(size) pixels of \(color.summary)"
            }
        let copies = across.count * down.count
        return "blend \(subject) over the image at \(across.start), \(down.start)"
            + (copies == 1 ? "" : ", \(copies) times") + (mode == .normal ? "" : ", mode \(mode.rawValue)")
            + (opacity == 100 ? "" : ", \(opacity) % opaque")
    }
}

extension BlendMode {
    fileprivate var time: Double {
        switch self {
        case .normal, .multiply, .screen, .darken, .lighten, .difference, .exclusion, .add, .mask, .maskOut: 25
        case .overlay, .hardLight, .softLight, .colorDodge, .colorBurn: 55
        }
    }
}
