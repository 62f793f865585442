import CVipsShim
import Memory
import Recipes

enum WebPFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .signatures([[0: Array("RIFF".utf8), 8: Array("WEBP".utf8)]]),
            header: { bytes throws(ImagingError) in try WebPHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadWebpBuffer", open: CVipsShim_load_webp)),
            warmUp: .written(bands: 4),
            trim: { file, header, plan throws(ImagingError) in
                try WebPTrimmer.trim(file, frames: plan.page + plan.frames(of: header))
            },
            planes: { file, header, plan, token, allocate, _ in
                try WebPPlanes.decode(file, header: header, plan: plan, token: token, allocate: allocate)
            },
            metadata: WebPHeader.metadata,
            outline: { bytes throws(ImagingError) in
                // Counting frames requires the whole file.
                if try WebPHeader.isAnimated(bytes) { return nil }
                return (try WebPHeader.read(bytes), WebPHeader.metadata(bytes))
            }),
        encoding: .init(
            saver: .webp, planes: .webp, attribute: withEXIF, addPacket: withPacket, addProfile: withDisplayP3))

    static func withEXIF(_ file: SharedBytes, exif: [UInt8], size: PixelSize) -> SharedBytes {
        guard let bytes = WebPChunks.extended(file.array, to: size, flags: 0b1000) else { return file }
        return SharedBytes(WebPChunks.counted(bytes + WebPChunks.chunk("EXIF", data: exif)))
    }

    static func withPacket(_ file: SharedBytes, packet: [UInt8], size: PixelSize) -> SharedBytes {
        guard let bytes = WebPChunks.extended(file.array, to: size, flags: 0b100) else { return file }
        return SharedBytes(WebPChunks.counted(bytes + WebPChunks.chunk("XMP ", data: packet)))
    }

    static func withDisplayP3(_ file: SharedBytes, size: PixelSize) -> SharedBytes {
        guard var bytes = WebPChunks.extended(file.array, to: size, flags: 0b10_0000) else { return file }
        bytes.insert(contentsOf: WebPChunks.chunk("ICCP", data: ColorProfile.displayP3File), at: 30)
        return SharedBytes(WebPChunks.counted(bytes))
    }
}
