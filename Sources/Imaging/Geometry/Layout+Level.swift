extension Layout {
    /// The level at which an image of size `source` can be decoded without a visible loss.
    ///
    /// The largest of 8, 4, 2 and 1 that leaves at least twice the resampled size on the deciding sides, so that the resample always has
    /// enough pixels. It depends on the two sizes alone: the bytes of a result must not depend on what is cached.
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
