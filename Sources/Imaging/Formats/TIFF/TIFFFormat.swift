import CVipsShim
import Recipes

enum TIFFFormat {
    static let codec = FormatCodec(
        decoding: .init(
            leadingBytes: .signatures(["II*\0", "MM\0*", "II+\0", "MM\0+"].map { [0: Array($0.utf8)] }),
            header: { bytes throws(ImagingError) in try TIFFHeader.read(bytes) },
            loader: .vips(unsafe VipsLoader(className: "VipsForeignLoadTiffBuffer", open: CVipsShim_load_tiff)),
            storedPage: { file, page throws(ImagingError) in try TIFFHeader.directory(ofPage: page, in: file) },
            warmUp: .file(sample), metadata: metadata))

    /// Finds metadata in the first directory of a file with 32-bit offsets.
    private static func metadata(_ bytes: RawSpan) -> EmbeddedMetadata {
        var metadata = EmbeddedMetadata()
        try? EXIFDirectory.read(bytes, in: 0..<bytes.byteCount) { (entry, block) throws(ImagingError) in
            let size = [1: 1, 4: 4, 7: 1][entry.type] ?? 0
            guard entry.count * size > 4, let offset = try? entry.valueOffset(in: block) else { return true }
            let range = offset..<min(offset + entry.count * size, block.byteCount)
            switch entry.tag {
            case 700: metadata.addPacket(bytes, at: range)
            case 33_723: metadata.records = range
            case 34_377: metadata.records = metadata.records ?? IPTCRecords.range(inResources: bytes, at: range)
            case 52_545: metadata.hasManifest = true
            default: break
            }
            return true
        }
        return metadata
    }

    /// One gray pixel, little-endian.
    private static let sample: [UInt8] = {
        let entries: [(tag: UInt8, type: UInt8, value: UInt8)] = [
            (0, 3, 1), (1, 3, 1), (2, 3, 8), (3, 3, 1), (6, 3, 1), (17, 4, 8), (21, 3, 1), (22, 3, 1), (23, 4, 1),
        ]
        let directory = entries.flatMap { [$0.tag, 1, $0.type, 0, 1, 0, 0, 0, $0.value, 0, 0, 0] as [UInt8] }
        return [0x49, 0x49, 42, 0, 10, 0, 0, 0, 128, 0, UInt8(entries.count), 0] + directory + [0, 0, 0, 0]
    }()
}
