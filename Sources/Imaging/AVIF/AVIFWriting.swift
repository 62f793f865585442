import CPlanarShim
import Coordination
import Memory

/// Writes AVIF files: libaom codes the frames, our own boxes hold them.
private struct AVIFWriting {
    let size: PixelSize
    /// Whether there is luma alone, besides alpha.
    let isGrey: Bool
    let settings: EncoderSettings

    /// Sets the planes of a frame.
    typealias Setter = (_ encoder: AV1Encoder) -> Void

    /// The file of a still.
    func still(colors: Setter, alpha: Setter?) throws(ImagingError) -> SharedBytes {
        let image = try coded(isGrey: isGrey, colors)
        let plane = if let alpha { try coded(isGrey: true, alpha) } else { nil as AVIFImage? }
        return SharedBytes(AVIFItems(colors: image, alpha: plane).file)
    }

    private func coded(isGrey: Bool, _ set: Setter) throws(ImagingError) -> AVIFImage {
        let encoder = try AV1Encoder(size, isGrey: isGrey, frames: 1, settings: settings)
        set(encoder)
        let frame = try encoder.frame()
        return AVIFImage(
            size: size, isGrey: isGrey, bits: settings.bitDepth, configuration: encoder.configuration, frames: [frame])
    }
}

extension PlaneEncoder {
    /// libaom, which cannot be stopped.
    static let avif = PlaneEncoder(range: .full, needsChroma: false) { (planes, settings, _) throws(ImagingError) in
        let all = unsafe [planes.planes.0, planes.planes.1, planes.planes.2].prefix(Int(planes.count))
        guard let luma = unsafe all.first, unsafe all.allSatisfy({ unsafe $0.width == luma.width }) else {
            throw .encodeFailed(detail: "chroma of another size than luma")
        }
        let writing = unsafe AVIFWriting(
            size: PixelSize(width: Int(luma.width), height: Int(luma.height)), isGrey: all.count == 1,
            settings: settings)
        return try writing.still(
            colors: { encoder in
                for index in unsafe all.indices {
                    let plane = unsafe all[index]
                    unsafe encoder.set(plane: index, plane.samples, stride: plane.stride)
                }
            }, alpha: nil)
    }
}

extension VipsSaver {
    /// Stills, and animations frame by frame.
    static let avif = VipsSaver { (image, options) throws(VipsError) in
        do {
            return try AVIFWriting(image, options).file(of: image, token: options.token)
        } catch {
            throw error as? VipsError ?? VipsError(text: "\(error)")
        }
    }
}

extension AVIFWriting {
    init(_ image: VipsImage, _ options: VipsSaveOptions) {
        size = PixelSize(width: image.width, height: image.integer("page-height") ?? image.height)
        isGrey = image.bands < 3
        settings = options.settings
    }

    func file(of image: VipsImage, token: WorkToken) throws -> SharedBytes {
        let bands = image.bands
        let pixels = try image.pixels(token: token)
        let hasAlpha = bands % 2 == 0
        return try unsafe pixels.withUnsafeBytes { bytes throws in
            let samples = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
            let stride = size.width * bands
            return try still(
                colors: { encoder in
                    if isGrey {
                        unsafe encoder.set(plane: 0, samples, stride: stride, step: bands)
                    } else {
                        unsafe encoder.set(colors: samples, bands: bands)
                    }
                },
                alpha: hasAlpha
                    ? { encoder in
                        unsafe encoder.set(plane: 0, samples.map { unsafe $0 + bands - 1 }, stride: stride, step: bands)
                    } : nil)
        }
    }
}
