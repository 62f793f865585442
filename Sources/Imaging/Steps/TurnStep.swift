/// Quarter turns and mirrors.
package struct TurnStep: Hashable {
    /// The EXIF orientation that the step makes upright, 2…8.
    package let orientation: Int

    /// Nanoseconds of one core for each pixel; measured as ``TimePrice`` says.
    private static let time = 10.0

    /// A step that turns images as EXIF's orientation says.
    package init(orientation: Int) {
        self.orientation = orientation
    }
}

extension TurnStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: input.size.upright(from: orientation), hasAlpha: input.hasAlpha)
    }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "turn \(orientation)" }

    package var words: String {
        switch orientation {
        case 2: "mirror left and right"
        case 3: "turn by 180°"
        case 4: "mirror top and bottom"
        case 5: "mirror left and right, then turn by 270°"
        case 6: "turn by 90°"
        case 7: "mirror left and right, then turn by 90°"
        case 8: "turn by 270°"
        default: "leave upright"
        }
    }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        try image.turned(from: orientation, token: context.token)
    }
}

extension TurnStep: PlanarStep {
    func target(after target: PlanarTarget) -> PlanarTarget? {
        guard target.turn == 1, target.filters.isEmpty else { return nil }
        var next = target
        next.turn = orientation
        next.isWhole = false
        return next
    }
}
