import CPlanar
import Coordination
import Memory
import Recipes

/// AVIF: AV1 images in HEIF files (AV1 Image File Format).
enum AVIFFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .brands(["avif", "avis"]),
            header: { bytes throws(ImagingError) in try HEIFHeader.read(bytes, format: .avif) },
            loader: .pixels { try HEIFReader.pixels($0, header: $1, plan: $2, token: $3) },
            planes: HEICFormat.planes, metadata: HEIFHeader.metadata, outline: HEIFHeader.outline(.avif)),
        encoding: .init(
            saver: .avif, planes: .avif,
            addPacket: { file, packet, _ in
                AVIFMetadata.withPacket(file, packet: packet)
            }))
}

// AVIF files: libaom encodes the frames, and our own code writes the boxes.

extension PlaneEncoder {
    static let avif = PlaneEncoder(range: .full, needsChroma: false) { (planes, settings, _) throws(ImagingError) in
        let all = unsafe planes.all.prefix(Int(planes.count))
        let size = unsafe PixelSize(width: Int(planes.planes.0.width), height: Int(planes.planes.0.height))
        guard unsafe all.allSatisfy({ unsafe Int($0.width) == size.width && Int($0.height) == size.height }) else {
            throw .encodeFailed(detail: "the luma and chroma planes have different sizes")
        }
        let encoder = try unsafe AV1Encoder(size, isGray: all.count == 1, frames: 1, settings: settings)
        for index in unsafe all.indices {
            let plane = unsafe all[index]
            unsafe encoder.set(plane: index, samples: plane.samples, stride: plane.stride)
        }
        return SharedBytes(AVIFItems(colors: AVIFImage(encoder, frames: [try encoder.frame()]), alpha: nil).file)
    }
}

extension VipsSaver {
    static let avif = VipsSaver { image, options in try AVIFPixelWriter(image, options: options).file() }
}

private struct AVIFPixelWriter {
    let image: VipsImage
    let size: PixelSize
    let options: VipsSaveOptions

    init(_ image: VipsImage, options: VipsSaveOptions) {
        self.image = image
        self.options = options
        size = PixelSize(width: image.width, height: image.integer("page-height") ?? image.height)
    }

    func file() throws -> SharedBytes {
        let items = AVIFItems(
            colors: try coded(isAlpha: false), alpha: image.bands % 2 == 0 ? try coded(isAlpha: true) : nil)
        guard items.colors.frames.count > 1 else { return SharedBytes(items.file) }
        let sequence = AVIFSequence(items: items, delays: image.integers("delay"), loop: image.integer("loop") ?? 0)
        return SharedBytes(sequence.file)
    }

    private func coded(isAlpha: Bool) throws -> AVIFImage {
        let count = image.height / size.height
        let isGray = isAlpha || image.bands < 3
        let encoder = try AV1Encoder(size, isGray: isGray, frames: count, settings: options.settings)
        var frames: [AV1Encoder.Frame] = []
        for index in 0..<count {
            try options.token.check()
            let top = index * size.height
            let frame =
                count == 1 ? image : try image.extracted(left: 0, top: top, width: size.width, height: size.height)
            unsafe try frame.pixels(token: options.token).withUnsafeBytes { bytes in
                let samples = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
                if isGray {
                    let first = isAlpha ? image.bands - 1 : 0
                    unsafe encoder.set(
                        plane: 0, samples: samples.map { unsafe $0 + first }, stride: size.width * image.bands,
                        step: image.bands)
                } else {
                    unsafe encoder.set(colors: samples, bands: image.bands)
                }
            }
            frames.append(try encoder.frame())
        }
        return AVIFImage(encoder, frames: frames)
    }
}
