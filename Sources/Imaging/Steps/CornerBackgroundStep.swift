import Memory

/// The colour of the top left pixel behind transparent parts, by the first frame if animated.
package struct CornerBackgroundStep: Hashable {
    /// A step that lays images on the colour of their own corner, whose alpha does not count.
    package init() {}

    /// A step with any colour, for prices; the price does not depend on it.
    private static let usual = BackgroundStep(.white)
}

extension CornerBackgroundStep: RenderStep {
    package func shape(after input: FrameShape) -> FrameShape { FrameShape(size: input.size, hasAlpha: false) }

    package func pixelsRead(of input: FrameShape, for wanted: Int) -> Int { input.size.area }

    package func cost(of work: StepWork) -> StepCost {
        let cost = Self.usual.cost(of: work)
        // All pixels before it are computed once, and kept.
        return StepCost(perFrame: cost.perFrame, bytes: 4 * work.input.size.area)
    }

    package var keyText: String { "background corner" }

    package var words: String { "put the colour of the top left pixel behind transparent parts" }

    package func applied(to image: VipsImage, in context: inout StepContext) throws -> VipsImage {
        guard image.hasAlpha else { return image }
        image.watch(context.token)
        let image = try image.inColor().computed()
        let token = context.token
        let color = try context.decided {
            let pixel = try image.extracted(left: 0, top: 0, width: 1, height: 1).pixels(token: token).array
            return Color(red: pixel[0], green: pixel[1], blue: pixel[2])
        }
        return try image.flattened(on: color)
    }
}
