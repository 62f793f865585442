import CVipsShim
import Memory

/// JPEG (ITU-T T.81).
enum JPEGFormat {
    static let traits = FormatTraits(
        mediaType: "image/jpeg", fileExtension: "jpg", supportsAlpha: false, supportsAnimation: false,
        // The format allows 65,535; readers accept libjpeg's limit, which is lower.
        maximumSide: 65_500,
        reading: .init(
            leadingBytes: .parts([[0: [0xFF, 0xD8, 0xFF]]]),
            header: { bytes throws(ImagingError) in try JPEGHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadJpegBuffer", open: CVipsShim_load_jpeg)),
            reduction: .transform,
            warmUp: .written(bands: 3),
            hasCMYK: true,
            trim: { file, header, _ throws(ImagingError) in JPEGTrimming.trim(file, header: header) },
            damage: .init(lacksPixels: { try JPEGPlanes.lacksPixels($0, header: $1, token: $2) }),
            planes: .init(
                mayHold: { $0.bands == 1 || $0.bands == 3 },
                decode: { try JPEGPlanes.decode($0, header: $1, plan: $2, token: $3, room: $4, decoder: $5) }),
            memory: .init(workingBytes: { header, _ in
                // All coefficients of a progressive image, two bytes each, at every level.
                header.isProgressive ? header.isChromaSubsampled ? 3 : 2 * header.bands : 0
            }),
            time: .init(pixel: 10, byte: 10)),
        output: .written(
            .init(
                saver: .jpeg, quality: .same, effort: JPEGScanChoice.bySize.rawValue, version: 3,
                planes: .jpeg, photographBytes: [(0, 100)], attribute: withEXIF,
                joinGainMap: JPEGGainMapWriting.joined, addProfile: withDisplayP3,
                // The coefficients of all scans stay in memory, two bytes each.
                memory: .init(pixel: 12, fullChroma: 3),
                time: .init(pixel: 34, fine: 32))))

    /// Inserts EXIF data after the first segment, which is JFIF's.
    static func withEXIF(_ file: SharedBytes, _ exif: [UInt8], _ size: PixelSize) -> SharedBytes {
        JPEGSegments.inserting(JPEGSegments.exif(exif), into: file)
    }

    static func withDisplayP3(_ file: SharedBytes, _ size: PixelSize) -> SharedBytes {
        guard file.withBytes({ try? JPEGHeader($0).header.bands }) == 3 else { return file }
        let content = Array("ICC_PROFILE\0".utf8) + [1, 1] + ColorProfile.displayP3File
        return JPEGSegments.inserting(JPEGSegments.segment(0xE2, content), into: file)
    }
}
