extension Layout {
    /// By how much a picture of size `source` can be reduced while it is decoded without a loss that shows.
    ///
    /// The largest of 8, 4, 2 and 1 that leaves at least twice the resampled size on the sides that decide, so that the
    /// resample always starts from plenty. A function of the two sizes alone: the answer's bytes must not depend on what
    /// is cached.
    func level(source: PixelSize) -> Int {
        let levels = [8, 4, 2].filter { level in
            decidingSides.allSatisfy { side in
                switch side {
                case .width: source.width >= 2 * level * resizedSize.width
                case .height: source.height >= 2 * level * resizedSize.height
                }
            }
        }
        return levels.first ?? 1
    }
}
