import Memory
import Recipes

/// Reads the size and metadata at the start of the codestream, which are not compressed.
///
/// The number of frames is known only after all frames have been read, so an animation counts as a still.
enum JXLHeader {
    /// Larger than any header without channel names.
    private static let maximum = 4_096

    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        let fragments = try JXLContainer.fragments(bytes)
        let (image, firstFrame) = try image(bytes, fragments: fragments)
        // The first frame follows the compressed ICC profile.
        let frames =
            if let firstFrame {
                try JXLFrames.work(bytes, fragments: fragments, of: image, from: firstFrame)
            } else { (area: 0, hasPatches: image.hasICC) }
        // Decoders read all channels of all frames, visible or not.
        let area = max(image.size.area, frames.area).multipliedReportingOverflow(by: image.extraChannels + 3)
        return ImageHeader(
            format: .jxl, storedSize: image.size,
            work: DecoderWork(
                area: area.overflow ? .max : area.partialValue / 3, runs: frames.hasPatches ? JXLFrames.patchRuns : 0),
            orientation: image.orientation,
            bands: (image.isGray ? 1 : 3) + (image.hasAlpha ? 1 : 0), bitDepth: max(8, image.bitDepth),
            hasAlpha: image.hasAlpha, profileByteCount: image.hasProfile ? 1 : 0, exif: JXLContainer.texts(bytes)
        ).with(image.colors)
    }

    /// Returns the metadata and the offset of the first frame; nil if that requires decoding.
    static func image(
        _ bytes: RawSpan, fragments: [Range<Int>]
    ) throws(ImagingError) -> (image: JXLMetadata, firstFrame: Int?) {
        var cursor = BitCursor(JXLContainer.bytes(bytes, fragments: fragments, from: 0, maximum: maximum))
        guard cursor.bits(16) == 0x0AFF else { throw .cannotDecode(detail: "the JPEG XL file has no codestream") }
        let image = try JXLMetadata(&cursor)
        guard !cursor.isTruncated else { throw .cannotDecode(detail: "the JPEG XL header is truncated") }
        return (image, image.firstFrame(&cursor))
    }
}
