import CVipsShim
import Recipes

enum GIFFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .signatures([[0: Array("GIF87a".utf8)], [0: Array("GIF89a".utf8)]]),
            header: { bytes throws(ImagingError) in try GIFHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadNsgifBuffer", open: CVipsShim_load_gif)),
            warmUp: .written(bands: 3),
            damage: .init(repair: { file, header, plan throws(ImagingError) in
                try GIFRepair.repair(file, header: header, plan: plan)
            }),
            metadata: metadata,
            // Counting frames requires the whole file.
            outline: { _ in nil }),
        encoding: .init(saver: VipsSaver { image, options in try unsafe image.saved(options, by: CVipsShim_save_gif) }))

    /// Finds the XMP packet, which has a trailer of 258 bytes instead of sub-blocks (XMP part 3, section 1.1.2).
    private static func metadata(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        _ = try? GIFBlocks.walk(bytes) { block throws(ImagingError) in
            guard case .application(let range) = block else { return }
            if bytes.hasText("XMP DataXMP", at: range.lowerBound + 1) {
                metadata.addPacket(bytes, at: range.dropFirst(12).dropLast(258))
            }
            metadata.hasManifest = metadata.hasManifest || bytes.hasText("C2PA_GIF", at: range.lowerBound + 1)
        }
        return metadata
    }
}
