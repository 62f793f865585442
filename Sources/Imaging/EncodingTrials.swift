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
    private let writer: FileWriter
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
        writer = FileWriter(plan: plan, token: token, codec: codec)
    }

    func file(quality: Int) throws -> SharedBytes {
        if let file = files[quality] { return file }
        let planes = try planes(for: quality)
        if writer.format.isEncodedByWorker { return try writer.fileByWorker(of: planes, quality: quality) }
        return try file(of: planes.planes, in: planes.pixels, settings: writer.plan.settings(quality: quality))
    }

    func similarity(quality: Int) throws -> Double {
        if image.hasColorDetail {
            let file = try self.file(quality: quality)
            files[quality] = file
            let reference = try reference ?? ComparedPlanes(colorsOf: planes(chromaStep: 1), token: writer.token)
            self.reference = reference
            return try ComparedPlanes(colorsOf: writer.image(in: file), token: writer.token).similarity(to: reference)
        }
        let file: SharedBytes
        let planes: DecodedImage
        if encoder.writesLumaAlone {
            planes = try resampled.first?.value ?? self.planes(for: quality)
            let luma = planes.planes.prefix(1)
            file = try self.file(of: Array(luma), in: planes.pixels, settings: writer.plan.settings(quality: quality))
        } else {
            planes = try self.planes(for: quality)
            file = try self.file(quality: quality)
            files[quality] = file
        }
        let reference = try reference ?? ComparedPlanes(lumaOf: planes, token: writer.token)
        self.reference = reference
        return try ComparedPlanes(lumaOf: writer.image(in: file), in: reference.range, token: writer.token)
            .similarity(to: reference)
    }

    private func file(of planes: [Plane], in samples: SharedBytes, settings: EncoderSettings) throws -> SharedBytes {
        do {
            return try encoder.file(
                of: samples, planes: planes, range: encoder.range, settings: settings, token: writer.token)
        } catch {
            try writer.token.check()
            throw error
        }
    }

    private func planes(for quality: Int) throws -> DecodedImage {
        try planes(chromaStep: writer.plan.chromaStep(at: quality))
    }

    private func planes(chromaStep step: Int) throws -> DecodedImage {
        if let planes = resampled[step] { return planes }
        var target = target
        target.chromaStep = step
        let planes = try PlanarRenderer.planes(of: image, target: target, token: writer.token)
        resampled[step] = planes
        return planes
    }
}

/// Trials on pixels; compares only the first frame.
struct PixelTrials: EncodingTrials {
    private let image: DecodedImage
    private let writer: FileWriter
    private var files: [Int: SharedBytes] = [:]
    private var reference: ComparedPlanes?
    private var comparesColors = false

    init(of image: DecodedImage, plan: RenderPlan, token: WorkToken, codec: any ImageCodec) {
        self.image = image
        writer = FileWriter(plan: plan, token: token, codec: codec)
    }

    func file(quality: Int) throws -> SharedBytes { try files[quality] ?? writer.file(of: image, quality: quality) }

    mutating func similarity(quality: Int) throws -> Double {
        let still = image.firstFrame
        let file = try writer.file(of: still, quality: quality)
        if image.frames == 1 { files[quality] = file }
        let decoded = try writer.image(in: file)
        if reference == nil {
            let colors = try ComparedPlanes(colorsOf: still, token: writer.token)
            comparesColors = colors.hasColorDetail
            if comparesColors { reference = colors }
        }
        if comparesColors, let reference {
            return try ComparedPlanes(colorsOf: decoded, token: writer.token).similarity(to: reference)
        }
        let luma = try ComparedPlanes(lumaOf: decoded, token: writer.token)
        let reference = try reference ?? ComparedPlanes(lumaOf: still, in: luma.range, token: writer.token)
        self.reference = reference
        return luma.similarity(to: reference)
    }
}

private struct FileWriter {
    let plan: RenderPlan
    let token: WorkToken
    let codec: any ImageCodec

    var format: ImageFormat { plan.format }

    func fileByWorker(of image: DecodedImage, quality: Int) throws -> SharedBytes {
        try codec.encode(image, as: format, settings: plan.settings(quality: quality), token: token)
    }

    func file(of image: DecodedImage, quality: Int) throws -> SharedBytes {
        if format.isEncodedByWorker(frames: image.frames) { return try fileByWorker(of: image, quality: quality) }
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

    func image(in file: SharedBytes) throws -> DecodedImage { try codec.decodeResult(file, as: format, token: token) }
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
