import CPlanar
import CVipsShim
import Coordination
import Glibc
import Memory
import Recipes

enum JXLFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .signatures([[0: [0xFF, 0x0A]], [0: JXLContainer.signature]]),
            header: { bytes throws(ImagingError) in try JXLHeader.read(bytes) },
            loader: .pixels { file, header, _, token in
                try JXLPixels.decode(JXLContainer.codestream(in: file), header: header, token: token)
            },
            metadata: JXLContainer.metadata),
        encoding: .init(
            saver: VipsSaver { image, options in
                if let settings = JXLLevel.jpegSettings(for: options.settings, image: image) {
                    let jpeg = try image.saved(
                        as: .jpeg, options: VipsSaveOptions(settings: settings, token: options.token))
                    return try unsafe jpeg.withUnsafeBytes { bytes throws in
                        try PlaneEncoder.Output.file { output in
                            unsafe CPlanar_jxl_of_jpeg(
                                bytes.baseAddress, bytes.count, &output.base, &output.count, &output.text)
                        }
                    }
                }
                let isDisplayP3 = options.settings.isDisplayP3 && image.bands >= 3
                let profiled = isDisplayP3 ? try image.profiled(SharedBytes(ColorProfile.displayP3File)) : image
                let level = JXLLevel(options.settings, version: Int(CPlanar_jxl_version()))
                var options = options
                options.settings.effort = level.effort
                return try unsafe profiled.saved(options, distance: level.distance, by: CVipsShim_save_jxl)
            },
            addPacket: { file, packet, _ in JXLContainer.withPacket(file, packet: packet) }))
}

/// libjxl's settings for an effort and a quality, chosen by measurement (docs/measurements/quality.md).
struct JXLLevel {
    let effort: Int
    let distance: Double

    /// Returns settings of a JPEG of equal visual quality whose lossless recompression is smaller than a lossy JPEG XL.
    ///
    /// Returns nil if that is not smaller, or not possible for the image, the effort or an unknown visual quality.
    static func jpegSettings(for settings: EncoderSettings, image: VipsImage) -> EncoderSettings? {
        let pixels = image.width * image.height
        guard let quality = settings.visualQuality, !settings.isLossless, !settings.isDisplayP3,
            settings.effort <= ImageFormat.jxl.effort, 30..<90 ~= quality, [1, 3].contains(image.bands),
            pixels >= minimumPixelsOfJPEG, max(image.width, image.height) <= ImageFormat.jpeg.maximumSide
        else { return nil }
        return EncoderSettings(quality: quality, effort: JPEGScanChoice.one.rawValue, bitDepth: 8)
    }

    private static let minimumPixelsOfJPEG = 10_000

    /// - Parameter version: The version of libjxl; 11000 is 0.11.
    init(_ settings: EncoderSettings, version: Int) {
        // libvips accepts 3 to 9, and silently uses 7 for any other effort.
        let encoderEffort = min(max(settings.effort, 3), 9)
        let plain = Self.distance(for: settings.quality)
        // In libjxl 0.11, effort 5 takes four times as long as 4 without smaller files. Lossless, it takes a fifth
        // longer in all versions.
        effort = (version >= 11_000 || settings.isLossless) && encoderEffort == 5 ? 4 : encoderEffort
        distance = version >= 11_000 && effort <= 4 ? Self.laterDistance(for: plain) : plain
    }

    /// Returns the distances of libvips 8.14, limited to 12.
    ///
    /// At larger distances, libjxl makes larger files or rejects the distance and continues with its default.
    private static func distance(for quality: Int) -> Double {
        switch quality {
        case ..<4: 6.24 + pow(2.5, Double(Float(25 - quality) / 5)) / 6.25
        case ..<12: 15 - 0.53 * Double(quality - 4)
        case ..<30: 6.24 + pow(2.5, Double(Float(30 - quality) / 5)) / 6.25
        default: 0.1 + Double(100 - quality) * 0.09
        }
    }

    private static func laterDistance(for plain: Double) -> Double {
        for (low, high) in zip(laterDistances, laterDistances.dropFirst()) where plain <= high.plain {
            return low.later + (high.later - low.later) * (plain - low.plain) / (high.plain - low.plain)
        }
        return 25
    }

    /// Distances of libjxl 0.7 at effort 5 and of 0.11 at effort 4 with equal SSIMULACRA2.
    private static let laterDistances: [(plain: Double, later: Double)] = [
        (0, 0), (0.1, 0.11), (0.73, 0.86), (1.18, 1.42), (1.72, 1.95), (2.35, 2.77), (3.25, 3.88), (3.97, 4.7),
        (4.6, 6.3), (6.4, 8.8), (8.74, 12.3), (15.3, 19), (25, 25),
    ]
}
