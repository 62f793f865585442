import CVipsShim

/// TIFF 6.0 and BigTIFF.
enum TIFFFormat {
    static let traits = FormatTraits(
        mediaType: "image/tiff", fileExtension: "tiff", supportsAlpha: true, supportsAnimation: false,
        maximumSide: 2_147_483_647,
        reading: .init(
            leadingBytes: .parts(
                ["II*\0", "MM\0*", "II+\0", "MM\0+"].map { [0: Array($0.utf8)] }),
            header: { bytes throws(ImagingError) in try TIFFHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadTiffBuffer", open: CVipsShim_load_tiff)),
            storedPage: { file, page throws(ImagingError) in try TIFFHeader.directory(ofPage: page, in: file) },
            needsConfinement: true,
            warmUp: .file(sample),
            hasPageHeaders: true,
            hasCMYK: true,
            // A strip may be the whole image, or one row, of which libtiff keeps the place.
            memory: .init(workingBytes: { header, _ in
                2 * header.bands * max(1, header.bitDepth / 8) + 32 / max(1, header.storedSize.width)
            }),
            time: .init(pixel: 15, byte: 10)),
        output: .replaced(opaque: .jpeg, transparent: .png))

    /// One gray pixel, little-endian.
    private static let sample: [UInt8] = {
        let entries: [(tag: UInt8, type: UInt8, value: UInt8)] = [
            (0, 3, 1), (1, 3, 1), (2, 3, 8), (3, 3, 1), (6, 3, 1), (17, 4, 8), (21, 3, 1), (22, 3, 1), (23, 4, 1),
        ]
        let directory = entries.flatMap { [$0.tag, 1, $0.type, 0, 1, 0, 0, 0, $0.value, 0, 0, 0] as [UInt8] }
        return [0x49, 0x49, 42, 0, 10, 0, 0, 0, 128, 0, UInt8(entries.count), 0] + directory + [0, 0, 0, 0]
    }()
}
