import Coordination
import Memory
import Recipes

protocol EncodingTrials {
    func file(quality: Int) throws -> SharedBytes

    /// Encodes, and returns the similarity of luma and, if the image has ``ColorDetail``, of full-size chroma.
    mutating func similarity(quality: Int) throws -> Double
}

/// Trials on planes, which are resampled once, or twice if only some of the qualities subsample chroma.
final class PlaneTrials: EncodingTrials {
    private let image: DecodedImage
    private let target: PlanarTarget
    private let encoder: PlaneEncoder
    private let trialEncoder: TrialEncoder
    private var resampled: [Int: DecodedImage] = [:]
    private var files: [Int: SharedBytes] = [:]
    private var reference: ComparedPlanes?

    init(
        of image: DecodedImage, target: PlanarTarget, encoder: PlaneEncoder, plan: RenderPlan, token: WorkToken,
        codec: any ImageCodec
    ) {
        self.image = image
        self.target = target
        self.encoder = encoder
        trialEncoder = TrialEncoder(plan: plan, token: token, codec: codec)
    }

    func file(quality: Int) throws -> SharedBytes {
        if let file = files[quality] { return file }
        let planes = try planes(for: quality)
        if trialEncoder.format.isEncodedByWorker { return try trialEncoder.encodeByWorker(planes, quality: quality) }
        return try encode(planes.planes, in: planes.pixels, quality: quality)
    }

    func similarity(quality: Int) throws -> Double {
        try image.hasColorDetail ? colorSimilarity(quality: quality) : lumaSimilarity(quality: quality)
    }

    private func colorSimilarity(quality: Int) throws -> Double {
        let file = try keptFile(quality: quality)
        let reference = try reference ?? ComparedPlanes(colorsOf: planes(chromaStep: 1), token: trialEncoder.token)
        self.reference = reference
        return try ComparedPlanes(colorsOf: trialEncoder.decode(file), token: trialEncoder.token)
            .similarity(to: reference)
    }

    private func lumaSimilarity(quality: Int) throws -> Double {
        let file: SharedBytes
        let planes: DecodedImage
        if encoder.writesLumaAlone {
            planes = try resampled.first?.value ?? self.planes(for: quality)
            file = try encode(Array(planes.planes.prefix(1)), in: planes.pixels, quality: quality)
        } else {
            planes = try self.planes(for: quality)
            file = try keptFile(quality: quality)
        }
        let reference = try reference ?? ComparedPlanes(lumaOf: planes, token: trialEncoder.token)
        self.reference = reference
        return try ComparedPlanes(lumaOf: trialEncoder.decode(file), in: reference.range, token: trialEncoder.token)
            .similarity(to: reference)
    }

    /// Encodes a file, and keeps it in case the search chooses it.
    private func keptFile(quality: Int) throws -> SharedBytes {
        let file = try file(quality: quality)
        files[quality] = file
        return file
    }

    private func encode(_ planes: [Plane], in samples: SharedBytes, quality: Int) throws -> SharedBytes {
        do {
            return try encoder.encode(
                samples, planes: planes, range: encoder.range, settings: trialEncoder.plan.settings(quality: quality),
                token: trialEncoder.token)
        } catch {
            try trialEncoder.token.check()
            throw error
        }
    }

    private func planes(for quality: Int) throws -> DecodedImage {
        try planes(chromaStep: trialEncoder.plan.chromaStep(at: quality))
    }

    private func planes(chromaStep step: Int) throws -> DecodedImage {
        if let planes = resampled[step] { return planes }
        var target = target
        target.chromaStep = step
        let planes = try PlanarRenderer.renderPlanes(of: image, to: target, token: trialEncoder.token)
        resampled[step] = planes
        return planes
    }
}

/// Trials on pixels; compares only the first frame.
struct PixelTrials: EncodingTrials {
    private let image: DecodedImage
    private let trialEncoder: TrialEncoder
    private var files: [Int: SharedBytes] = [:]
    private var reference: ComparedPlanes?
    private var comparesColors = false

    init(of image: DecodedImage, plan: RenderPlan, token: WorkToken, codec: any ImageCodec) {
        self.image = image
        trialEncoder = TrialEncoder(plan: plan, token: token, codec: codec)
    }

    func file(quality: Int) throws -> SharedBytes {
        try files[quality] ?? trialEncoder.encode(image, quality: quality)
    }

    mutating func similarity(quality: Int) throws -> Double {
        let still = image.firstFrame
        let file = try trialEncoder.encode(still, quality: quality)
        if image.frames == 1 { files[quality] = file }
        let decoded = try trialEncoder.decode(file)
        if reference == nil {
            let colors = try ComparedPlanes(colorsOf: still, token: trialEncoder.token)
            comparesColors = colors.hasColorDetail
            if comparesColors { reference = colors }
        }
        if comparesColors, let reference {
            return try ComparedPlanes(colorsOf: decoded, token: trialEncoder.token).similarity(to: reference)
        }
        let luma = try ComparedPlanes(lumaOf: decoded, token: trialEncoder.token)
        let reference = try reference ?? ComparedPlanes(lumaOf: still, in: luma.range, token: trialEncoder.token)
        self.reference = reference
        return luma.similarity(to: reference)
    }
}

/// Encodes by a plan, and decodes the results.
private struct TrialEncoder {
    let plan: RenderPlan
    let token: WorkToken
    let codec: any ImageCodec

    var format: ImageFormat { plan.format }

    func encodeByWorker(_ image: DecodedImage, quality: Int) throws -> SharedBytes {
        try codec.encode(image, as: format, settings: plan.settings(quality: quality), token: token)
    }

    func encode(_ image: DecodedImage, quality: Int) throws -> SharedBytes {
        if format.isEncodedByWorker(frames: image.frames) { return try encodeByWorker(image, quality: quality) }
        do {
            let file = try ImageEncoder.encode(
                image, as: format, settings: plan.settings(quality: quality), hasSharpChroma: plan.hasSharpChroma,
                token: token)
            try token.check()
            return file
        } catch {
            try token.check()
            throw error
        }
    }

    func decode(_ file: SharedBytes) throws -> DecodedImage { try codec.decodeResult(file, as: format, token: token) }
}

extension DecodedImage {
    fileprivate var planes: [Plane] {
        guard case .planar(let planes, _) = layout else { preconditionFailure("the image has no planes") }
        return planes
    }

    fileprivate var firstFrame: DecodedImage {
        guard frames > 1 else { return self }
        let count = size.area * bands
        let pixels = unsafe pixels.withUnsafeBytes { bytes in
            unsafe SharedBytes(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        return DecodedImage(pixels: pixels, size: size, bands: bands)
    }
}
