extension ImageHeader {
    /// Bytes of memory that a decode by `plan` takes at its peak, the decoded pixels included, as known before it starts.
    ///
    /// Saturates instead of overflowing: the head may claim any size.
    package func price(of plan: DecodePlan) -> Int {
        let frameCount = plan.isAnimated ? frames : 1
        let components = format == .jpeg && bands == 4 ? 3 : bands
        let pixels = saturated(storedSize.area / (plan.level * plan.level), components * frameCount)
        let (sum, overflow) = pixels.addingReportingOverflow(workingBytes)
        return overflow ? .max : sum
    }

    /// What the decoder holds besides the pixels that it hands over.
    private var workingBytes: Int {
        let area = storedSize.area
        switch format {
        case .jpeg:
            // All coefficients of a progressive picture, two bytes each, whatever the level.
            guard isProgressive else { return 0 }
            return isChromaSubsampled ? saturated(area, 3) : saturated(area, 2 * bands)
        case .png:
            // The passes of an interlaced picture make it whole only with the last.
            return isProgressive ? saturated(area, bands * max(1, bitDepth / 8)) : 0
        case .webp: return saturated(area, 4)
        case .gif: return saturated(area, 5)
        case .avif, .heic: return saturated(area, 6)
        }
    }

    private func saturated(_ value: Int, _ factor: Int) -> Int {
        let (product, overflow) = value.multipliedReportingOverflow(by: factor)
        return overflow ? .max : product
    }
}
