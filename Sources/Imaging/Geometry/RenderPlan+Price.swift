extension RenderPlan {
    /// Bytes of memory that the render and its encoder take at their peak: with the result, without the decoded pixels.
    package var price: Int {
        // A format that is not written is refused, which takes no memory.
        guard let memory = format.writing?.memory else { return 0 }
        let perPixel = memory.pixel + (chromaStep == 1 ? memory.fullChroma : 0)
        // An animation is composed and encoded frame by frame.
        let largest = steps.work(on: source).map(\.output.size.area).max() ?? source.size.area
        return memory.least + largest * perPixel + steps.costs(on: source).reduce(0) { $0 + $1.bytes }
    }
}
