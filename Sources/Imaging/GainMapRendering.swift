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

extension RenderSteps {
    /// The steps that do to a gain map of size `map` what these do to its image; nil if they do more than cut, resample
    /// and turn it.
    ///
    /// The map becomes as large as the result, unless it is smaller: if it kept its own scale, a small result would
    /// show the coarseness of its map, which the source does not show.
    func ofGainMap(of map: PixelSize, for image: PixelSize) -> RenderSteps? {
        guard areGeometry(on: image) else { return nil }
        let target = planarTarget(from: PlanarTarget(of: image)).target
        let part = target.shownPart(of: image)
        let (shown, own) = (target.rectangle.size, part.rounded(in: map).size)
        let size = PixelSize(width: Swift.min(shown.width, own.width), height: Swift.min(shown.height, own.height))
        let resample = ResampleStep(to: size, of: part.isWhole ? nil : part)
        return target.turn == 1 ? [resample] : [resample, TurnStep(orientation: target.turn)]
    }
}

extension PlanarTarget {
    /// The part of an image of size `whole` that is shown, in whole pixels of it.
    fileprivate func shownPart(of whole: PixelSize) -> ImagePart {
        let part = part ?? ImagePart(allOf: whole)
        func edges(_ start: Int, _ length: Int, of resized: Int, from first: Int, _ count: Int) -> (Int, Int) {
            func place(_ edge: Int) -> Int { first + (2 * edge * count + resized) / (2 * resized) }
            let left = min(place(start), first + count - 1)
            return (left, max(1, place(start + length) - left))
        }
        let across = edges(rectangle.x, rectangle.size.width, of: resizedSize.width, from: part.x, part.size.width)
        let down = edges(rectangle.y, rectangle.size.height, of: resizedSize.height, from: part.y, part.size.height)
        return ImagePart(
            x: across.0, y: down.0, size: PixelSize(width: across.1, height: down.1), of: part.whole)
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
