import Coordination
import Glibc
import Memory

extension DecodedGainMap {
    /// A decoded map, in samples that mean what its metadata say, whatever colour profile it has.
    ///
    /// - Throws: The error of `token`.
    init(_ decoded: DecodedImage, of map: GainMap, token: WorkToken) throws {
        let plain = decoded.withoutProfile
        (size, metadata) = (map.header.size, map.metadata)
        switch map.samples {
        case .logarithms: image = plain
        case .amounts:
            let (pixels, curve) = (try plain.interleaved(token: token), map.metadata.appleCurve)
            image = DecodedImage(
                pixels: SharedBytes(pixels.pixels.array.map { curve[Int($0)] }), size: pixels.size, bands: pixels.bands)
        }
    }

    /// The quality of the files of gain maps, and those that are tried where a result has most bytes, of which the map
    /// gets a third if it can.
    private static let qualities = [85, 65, 45, 25]

    /// The map's file for a result of `plan`, after the steps of the image; nil if these do more than cut, resample and
    /// turn it, or if the map cannot be resampled.
    ///
    /// - Parameter steps: The steps, with the places of those that look for them.
    /// - Throws: The error of `token`.
    func encoded(
        for plan: RenderPlan, _ steps: RenderSteps, token: WorkToken, codec: any ImageCodec
    ) throws -> EncodedGainMap? {
        guard let steps = steps.ofGainMap(of: size, for: plan.source.size) else { return nil }
        let most = if case .fitting(let bytes, _, _) = plan.quality { bytes / 3 } else { Int.max }
        do {
            var file: SharedBytes?
            for quality in Self.qualities where file.map({ $0.count > most }) ?? true {
                let own = RenderPlan(
                    source: FrameShape(size: size, hasAlpha: false), steps: steps, format: plan.format,
                    quality: quality)
                file = try ImageRenderer.render(image, plan: own, token: token, codec: codec).bytes
            }
            return file.map { EncodedGainMap(file: $0, metadata: metadata) }
        } catch is ImagingError {
            return nil
        }
    }
}

extension GainMapMetadata {
    /// The values in place of the 256 samples of a map by Apple, so that they mean what these numbers say.
    ///
    /// Apple's samples are amounts by the curve of video: with amount *a* and headroom *h*, light is multiplied by
    /// 1 + (*h* − 1) *a*.
    var appleCurve: [UInt8] {
        let most = exp2(alternateHeadroom.value)
        return (0..<256).map { sample in
            let value = Double(sample) / 255
            let amount = value < 0.081 ? value / 4.5 : pow((value + 0.099) / 1.099, 1 / 0.45)
            return UInt8((255 * log2(1 + (most - 1) * amount) / alternateHeadroom.value).rounded())
        }
    }
}
