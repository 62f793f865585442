/// What a render does, step by step, in an order that is the request's own.
package struct RenderSteps: Sendable, ExpressibleByArrayLiteral {
    private var steps: [any RenderStep]

    /// These steps, in this order.
    package init(_ steps: [any RenderStep]) {
        self.steps = steps
    }

    /// These steps, in this order.
    package init(arrayLiteral steps: any RenderStep...) {
        self.steps = steps
    }

    /// Adds a step behind the others.
    package mutating func append(_ step: some RenderStep) { steps.append(step) }

    /// Drops steps that are done.
    mutating func removeFirst(_ count: Int) { steps.removeFirst(count) }

    /// What the steps make of a frame of this shape.
    package func shape(after input: FrameShape) -> FrameShape {
        steps.reduce(input) { shape, step in step.shape(after: shape) }
    }

    /// What each step has to do if frames of this shape come in.
    func work(on input: FrameShape) -> [StepWork] {
        var shape = input
        var work = steps.map { step in
            let input = shape
            shape = step.shape(after: input)
            return StepWork(input: input, output: shape)
        }
        var wanted = shape.size.area
        for (index, step) in steps.enumerated().reversed() {
            work[index].made = wanted
            wanted = step.pixelsRead(of: work[index].input, for: wanted)
            work[index].read = wanted
        }
        return work
    }

    /// What each step costs if frames of this shape come in.
    func costs(on input: FrameShape) -> [StepCost] {
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
