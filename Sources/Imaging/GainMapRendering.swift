import CPixels
import Coordination
import Glibc
import Memory
import Recipes

extension DecodedGainMap {
    init(_ decoded: DecodedImage, of map: GainMap, token: WorkToken) throws {
        let plain = decoded.with { $0.profile = nil }
        size = map.header.size
        metadata = map.metadata
        switch map.samples {
        case .logarithms: image = plain
        case .amounts:
            let pixels = try plain.interleavedInSRGB(token: token)
            let curve = map.metadata.appleCurve
            image = DecodedImage(
                pixels: SharedBytes(pixels.pixels.array.map { curve[Int($0)] }), size: pixels.size, bands: pixels.bands)
        }
    }

    /// Renders and encodes the map; nil if steps do more than crop, resample and turn, or it cannot be resampled.
    ///
    /// - Parameters:
    ///   - file: The result without a map.
    ///   - image: The image before any step.
    ///   - steps: The steps with resolved positions.
    func encoded(
        for file: SharedBytes, of image: DecodedImage, by plan: RenderPlan, steps: RenderSteps, token: WorkToken,
        codec: any ImageCodec
    ) throws -> EncodedGainMap? {
        // A gain map has no gamut.
        let steps = RenderSteps(steps.filter { !($0 is GamutStep) })
        guard let geometry = steps.gainMapGeometry(mapSize: size, imageSize: plan.source.size) else { return nil }
        let maximum = if case .fitting(let bytes, _, _) = plan.quality { bytes / 3 } else { Int.max }
        do {
            var map = self.image
            var source = FrameShape(size: size, hasAlpha: false)
            var mapSteps = RenderSteps(Array(geometry.resampling) + Array(geometry.turning))
            if geometry.isFitted {
                let base = try plan.decodeBase(file, of: image, token: token, codec: codec)
                map = try fitted(to: image, geometry: geometry, base: base, token: token)
                source.size = map.size
                mapSteps = []
            }
            var mapFile: SharedBytes?
            for quality in EncodingQuality.ofGainMap(pixels: source.size.area)
            where mapFile.map({ $0.count > maximum }) ?? true {
                let mapPlan = RenderPlan(source: source, steps: mapSteps, format: plan.format, quality: quality)
                mapFile = try ImageRenderer.render(map, plan: mapPlan, token: token, codec: codec).bytes
            }
            return mapFile.map { EncodedGainMap(file: $0, metadata: metadata) }
        } catch is ImagingError {
            return nil
        }
    }

    /// - Parameter base: The decoded result, if the map can be fitted to it.
    private func fitted(
        to image: DecodedImage, geometry: GainMapGeometry, base: DecodedImage?, token: WorkToken
    ) throws -> DecodedImage {
        let map = try self.image.bands == 1 ? self.image : self.image.interleaved(token: token)
        let size = geometry.turn.inverse.turned(geometry.size)
        let memory = try PlaneMemory(count: size.area * map.bands)
        var gains = gains(of: map, for: image, geometry: geometry)
        var out = unsafe CPixelsFrame(memory.bytes.baseAddress, size: size, bands: map.bands)
        try unsafe image.withFrame(token) { from, watch throws in
            try unsafe map.withFrame(token) { gain, _ in
                var (from, gain) = unsafe (from, gain)
                guard let base else { return unsafe CPixels_fit_gains(&gains, &from, &gain, nil, &out, watch) }
                try unsafe base.withFrame(token) { base, _ in
                    var base = unsafe base
                    return unsafe CPixels_fit_gains(&gains, &from, &gain, &base, &out, watch)
                }
                return 0
            }
            return 0
        }
        return DecodedImage(pixels: memory.finish(), size: size, bands: map.bands)
    }

    /// Returns the gains for the visible part of the image; the map covers the same area as the image.
    private func gains(of map: DecodedImage, for image: DecodedImage, geometry: GainMapGeometry) -> CPixelsGains {
        let whole = image.filledRegion
        let filled = map.filledRegion
        let region = geometry.region
        let across = ImageRegion.span(region.x, count: region.size.width, of: region.whole.width, in: whole.width)
        let down = ImageRegion.span(region.y, count: region.size.height, of: region.whole.height, in: whole.height)
        let width = whole.width / filled.width
        let height = whole.height / filled.height
        let frame = map.frameSize
        var gains = metadata.gains(for: image.sampleRange)
        gains.orientation = Int32(geometry.turn.exif)
        gains.part = CPixelsArea(
            left: whole.left + across.start, top: whole.top + down.start, width: across.length, height: down.length)
        gains.whole = CPixelsArea(
            left: whole.left - filled.left * width, top: whole.top - filled.top * height,
            width: Double(frame.width) * width, height: Double(frame.height) * height)
        return gains
    }
}

extension RenderPlan {
    /// The result in the source's colors, as a client that applies the map sees it; nil if luma cannot be compared.
    fileprivate func decodeBase(
        _ file: SharedBytes, of image: DecodedImage, token: WorkToken, codec: any ImageCodec
    ) throws -> DecodedImage? {
        let profile = image.profile ?? .sRGB
        let isSame = gamut == .p3 ? profile.isDisplayP3 : image.profile == nil || profile.isSRGB
        guard !image.hasAlpha, isSame || image.bands == 3 && profile.isDisplayP3 else { return nil }
        let shown = try codec.decodeResult(file, as: format, token: token)
        guard !isSame, let conversion = GamutConversion.srgbToDisplayP3 else { return shown }
        return try shown.interleaved(token: token).converted(by: conversion, token: token)
    }
}

extension GainMapMetadata {
    /// A table from Apple's samples to logarithmic gains.
    ///
    /// Samples have the video transfer function; with amount *a* and headroom *h*, the gain is 1 + (*h* − 1) *a*.
    var appleCurve: [UInt8] {
        let maximum = exp2(alternateHeadroom.value)
        return (0..<256).map { sample in
            let value = Double(sample) / 255
            let amount = value < 0.081 ? value / 4.5 : pow((value + 0.099) / 1.099, 1 / 0.45)
            return UInt8((255 * log2(1 + (maximum - 1) * amount) / alternateHeadroom.value).rounded())
        }
    }

    /// The minimum offset; black has no gain.
    private static let minimumOffset = 1.0 / 256

    fileprivate func gains(for range: PlaneRange) -> CPixelsGains {
        var gains = CPixelsGains()
        let (start, length): (Double, Double) = range == .full ? (0, 255) : (16, 219)
        let steps = 0...Int(CPixels_gain_steps)
        let values = channels.flatMap { channel in
            steps.map { step in
                let share = pow(Double(step) / Double(steps.upperBound), 1 / channel.gamma.value)
                return exp2(channel.minimum.value + (channel.maximum.value - channel.minimum.value) * share)
            }
        }
        func light(from start: Double, _ length: Double) -> [Double] {
            (0..<256).map { SRGBCurve.light(of: min(max((Double($0) - start) / length, 0), 1)) }
        }
        storeFloats(light(from: start, length), in: &gains.light)
        storeFloats(light(from: 0, 255), in: &gains.base_light)
        storeFloats(values.count > steps.count ? values : values + values + values, in: &gains.gains)
        storeFloats(
            (0..<3).map { max(channels[$0 % channels.count].baseOffset.value, Self.minimumOffset) }, in: &gains.offsets)
        return gains
    }
}
