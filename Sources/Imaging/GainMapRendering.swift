import Coordination
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

    /// The quality of the files of gain maps; docs/formats.md has the measurements.
    private static let quality = 85

    /// The map's file for a result of `plan`, after the steps of the image; nil if these do more than cut, resample and
    /// turn it, or if the map cannot be resampled.
    ///
    /// - Throws: The error of `token`.
    func encoded(for plan: RenderPlan, token: WorkToken, codec: any ImageCodec) throws -> EncodedGainMap? {
        guard let steps = plan.steps.ofGainMap(of: size, for: plan.source.size) else { return nil }
        let own = RenderPlan(
            source: FrameShape(size: size, hasAlpha: false), steps: steps, format: plan.format, quality: Self.quality)
        do {
            let file = try ImageRenderer.render(image, plan: own, token: token, codec: codec).bytes
            return EncodedGainMap(file: file, metadata: metadata)
        } catch is ImagingError {
            return nil
        }
    }
}
