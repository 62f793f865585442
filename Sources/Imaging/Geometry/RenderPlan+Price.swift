extension RenderPlan {
    /// Bytes of memory that the render and its encoder take at their peak, the result included, the decoded pixels not.
    ///
    /// The factors were measured (`make bench-prices`).
    package var price: Int {
        let (perPixel, least) =
            switch format {
            case .jpeg, .png: (8, 1 << 20)
            case .webp: (24, 1 << 20)
            case .gif: (16, 1 << 20)
            // Whatever the size, its encoder sets up a good deal first. Finished pixels are there twice, in two processes.
            case .avif, .heic: (chromaStep == 1 ? 52 : 32, 8 << 20)
            }
        // An animation is composed and encoded frame by frame.
        return least + max(resizedSize.area, outputSize.area) * perPixel
    }
}
