import CVipsShim
import Memory

/// WebP (RFC 9649).
enum WebPFormat {
    static let traits = FormatTraits(
        mediaType: "image/webp", fileExtension: "webp", supportsAlpha: true, supportsAnimation: true,
        isCommonAnimation: true, maximumSide: 16_383,
        reading: .init(
            leadingBytes: .parts([[0: Array("RIFF".utf8), 8: Array("WEBP".utf8)]]),
            header: { bytes throws(ImagingError) in try WebPHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadWebpBuffer", open: CVipsShim_load_webp)),
            reduction: .scaler,
            warmUp: .written(bands: 4),
            trim: { file, header, plan throws(ImagingError) in
                try WebPTrimming.trim(file, frames: plan.page + plan.frames(of: header))
            },
            planes: .init(
                // Only libwebp's header parser knows whether the file is lossless.
                mayHold: { $0.frames == 1 && !$0.hasAlpha && $0.profileByteCount == 0 },
                decode: { file, header, plan, token, room, _ in
                    try WebPPlanes.decode(file, header: header, plan: plan, token: token, room: room)
                }),
            memory: .init(
                // A lossless image, or one with alpha, passes through three buffers; the scaler needs only one of them.
                workingBytes: { header, isWhole in header.frames > 1 ? 4 : isWhole ? 12 : 8 },
                isForEachFrame: true),
            time: .init(pixel: 2, byte: 56, leastPixel: 17, animation: 25, isAlphaApart: true)),
        output: .written(
            .init(
                saver: .webp, quality: .webp, effort: 5, version: 4, fullChromaFrom: nil, planes: .webp,
                maximumSharpPixels: 200_000,
                photographBytes: [(0, 60), (2_500, 90), (40_000, 96), (100_000, 99), (150_000, 101), (500_000, 109)],
                attribute: withEXIF,
                addProfile: withDisplayP3,
                memory: .init(pixel: 24, alpha: 20),
                time: .init(pixel: 230, alpha: 145))))

    static func withEXIF(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        guard let bytes = WebPChunks.extended(file.array, to: size, flags: 0b1000) else { return file }
        return SharedBytes(WebPChunks.counted(bytes + WebPChunks.chunk("EXIF", exif)))
    }

    static func withDisplayP3(_ file: SharedBytes, _ size: PixelSize) -> SharedBytes {
        guard var bytes = WebPChunks.extended(file.array, to: size, flags: 0b10_0000) else { return file }
        bytes.insert(contentsOf: WebPChunks.chunk("ICCP", ColorProfile.displayP3File), at: 30)
        return SharedBytes(WebPChunks.counted(bytes))
    }
}
