import Recipes

/// An AVIF image sequence, or the first frame of a HEIC file without another image.
struct HEIFSequence {
    let colors: HEIFTrack
    let alpha: HEIFTrack?

    /// Returns nil if the primary item is shown instead.
    init?(_ bytes: RawSpan, items: HEIFItems?) throws(ImagingError) {
        if !bytes.hasText("avis", at: 8), items?.primary != nil { return nil }
        let tracks = try HEIFTrack.all(bytes)
        guard let colors = tracks.first(where: { !$0.isAlpha && $0.owners.isEmpty }) else { return nil }
        self.colors = colors
        alpha = tracks.first { $0.isAlpha && $0.owners.contains(colors.id) && $0.coding == colors.coding }
        if let alpha, alpha.count != colors.count || alpha.size != colors.size { return nil }
    }

    var frames: Int { colors.coding == .av1 ? colors.count : 1 }

    /// Returns the maximum number of additional frames that a request may decode.
    ///
    /// - Parameter countsFrames: Whether to count them; if not, only checks that all frames are within the file.
    func hiddenFrames(in bytes: RawSpan, countsFrames: Bool) throws(ImagingError) -> Int {
        var result = 0
        var units = CodedFrames()
        for track in [colors] + (alpha.map { [$0] } ?? []) {
            guard let coding = track.coding else { continue }
            // A decode begins at some frame and ends at a later one.
            var sum = 0
            var maximum = 0
            for location in try track.locations(in: bytes).prefix(countsFrames ? frames : 0) {
                sum =
                    max(0, sum)
                    + (try units.count(coding, in: [location], parameters: track.properties.parameters, of: bytes)) - 1
                maximum = max(maximum, sum)
            }
            result += maximum
        }
        return result
    }
}
