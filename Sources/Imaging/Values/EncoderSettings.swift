/// How an encoder writes a file, besides its format.
package struct EncoderSettings: Hashable, Sendable {
    /// 1…100; ignored if the format has no quality.
    package var quality: Int
    /// The encoder's effort, in its own scale.
    package var effort: Int
    /// Bits of a component, in a format with a choice.
    package var bitDepth: Int
    /// Whether the image is Display P3, and the file says so if the format's encoder writes that.
    package var isWide: Bool
    /// Whether chroma is not subsampled, in JPEG of a quality that would.
    var hasFullChroma = false

    /// Settings of these values.
    package init(quality: Int, effort: Int, bitDepth: Int = 8, isWide: Bool = false) {
        (self.quality, self.effort, self.bitDepth, self.isWide) = (quality, effort, bitDepth, isWide)
    }
}
