package struct TurnStep: RenderStep {
    package let turn: QuarterTurn
    private static let time = 10.0

    package init(_ turn: QuarterTurn) { self.turn = turn }

    package func shape(after input: FrameShape) -> FrameShape {
        FrameShape(size: turn.turned(input.size), hasAlpha: input.hasAlpha)
    }

    package func pixelsRead(of input: FrameShape, for outputPixels: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost { .filtering(work, time: Self.time) }

    package var keyText: String { "turn \(turn.exif)" }

    package var summary: String {
        if turn == .mirrorY { return "mirror top and bottom" }
        let turns =
            (turn.isMirrored ? ["mirror left and right"] : [])
            + (turn.quarters > 0 ? ["turn by \(90 * turn.quarters)°"] : [])
        return turns.isEmpty ? "leave upright" : turns.joined(separator: ", then ")
    }

    package func parameters(on size: PixelSize) -> [StepParameter]? {
        if turn == .mirrorY { return [("flip", "v")] }
        return (turn.isMirrored ? [("flip", "h")] : [])
            + (turn.quarters > 0 ? [("rotate", String(90 * turn.quarters))] : [])
    }

    package func geometry(after geometry: StepGeometry) -> StepGeometry? {
        guard geometry.turn == .none else { return nil }
        var next = geometry
        next.turn = turn
        next.isWhole = false
        return next
    }
}
