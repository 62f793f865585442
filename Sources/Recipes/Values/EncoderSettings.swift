package struct EncoderSettings: Hashable, Sendable {
    /// 1…100; ignored if the format has no quality.
    package var quality: Int
    /// The encoder's effort, on its own scale.
    package var effort: Int
    package var bitDepth: Int
    package var isWide: Bool
    /// Whether JPEG chroma is not subsampled even at low quality.
    package var hasFullChroma = false

    package init(quality: Int, effort: Int, bitDepth: Int = 8, isWide: Bool = false) {
        (self.quality, self.effort, self.bitDepth, self.isWide) = (quality, effort, bitDepth, isWide)
    }
}
