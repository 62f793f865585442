package struct RenderSteps: Sendable, ExpressibleByArrayLiteral {
    private var steps: [any RenderStep]

    package init(_ steps: [any RenderStep]) { self.steps = steps }

    package init(arrayLiteral steps: any RenderStep...) { self.steps = steps }

    package mutating func append(_ step: some RenderStep) { steps.append(step) }

    package mutating func removeFirst(_ count: Int) { steps.removeFirst(count) }

    package func shape(after input: FrameShape) -> FrameShape {
        steps.reduce(input) { shape, step in step.shape(after: shape) }
    }

    package func work(on input: FrameShape) -> [StepWork] {
        var shape = input
        var work = steps.map { step in
            let input = shape
            shape = step.shape(after: input)
            return StepWork(input: input, output: shape)
        }
        var outputPixels = shape.size.area
        for (index, step) in steps.enumerated().reversed() {
            work[index].pixelsComputed = outputPixels
            outputPixels = step.pixelsRead(of: work[index].input, for: outputPixels)
            work[index].pixelsRead = outputPixels
        }
        // Crops cost nothing, because they only select pixels.
        var isComputed = false
        for (index, step) in steps.enumerated() where step.cost(of: work[index]) != .none {
            work[index].keepsInput = isComputed && step.readsRepeatedly
            isComputed = true
        }
        return work
    }

    package func costs(on input: FrameShape) -> [StepCost] {
        zip(steps, work(on: input)).map { step, work in step.cost(of: work) }
    }
}

extension RenderSteps: RandomAccessCollection {
    package var startIndex: Int { steps.startIndex }
    package var endIndex: Int { steps.endIndex }
    package subscript(position: Int) -> any RenderStep { steps[position] }
}

extension RenderSteps: Hashable {
    package static func == (one: RenderSteps, other: RenderSteps) -> Bool {
        one.steps.elementsEqual(other.steps) { $0.isEqual(to: $1) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(steps.count)
        for step in steps { hasher.combine(step) }
    }
}

extension RenderSteps {
    /// Replaces crops by content with crops at known positions.
    ///
    /// - Parameter origin: Returns the corner of a step's crop by the step's index; nil for the image's corner.
    package func resolved(by origin: (Int) -> (left: Int, top: Int)? = { _ in nil }) -> RenderSteps {
        RenderSteps(
            enumerated().map { index, step -> any RenderStep in
                guard let seeking = step as? any ContentCropStep else { return step }
                let (left, top) = origin(index) ?? (0, 0)
                return seeking.crop(left: left, top: top)
            })
    }
}
