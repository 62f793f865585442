import Recipes

/// The frames of a codestream up to the first shown one.
///
/// libjxl decodes layers and reference frames without reporting them.
enum JXLFrames {
    /// The cost of patches in decoder starts: high, because a few bytes can repeat a patch indefinitely.
    static let patchRuns = 3_500

    private static let maximumFrames = 7
    /// The maximum area of all frames together, in areas of the image.
    private static let maximumImages = 3
    /// Small images may always have this many pixels.
    private static let minimumPixels = 128 * 128
    private static let maximumSections = 1 << 16

    /// Larger than any frame header.
    private static let headerBytes = 4_096

    /// Returns the pixels of all frames, and whether a frame has patches (blended fragments of earlier frames).
    ///
    /// - Parameter offset: The offset of the first frame in the codestream, which is in `fragments` of the file.
    /// - Throws: If the frames are much larger than the image, or if there are many before the first shown one.
    static func work(
        _ file: RawSpan, fragments: [Range<Int>], of image: JXLMetadata, from offset: Int
    ) throws(ImagingError) -> (area: Int, hasPatches: Bool) {
        var offset = offset
        var area = 0
        var sections = 0
        var hasPatches = false
        for index in 0...maximumFrames {
            let size = index == 0 ? image.preview ?? image.size : image.size
            var cursor = BitCursor(JXLContainer.bytes(file, fragments: fragments, from: offset, maximum: headerBytes))
            let frame = JXLFrame(&cursor, of: image, whole: size)
            // The decoder will report the truncated file.
            guard !cursor.isTruncated else { return (area, hasPatches) }
            hasPatches = hasPatches || frame.hasPatches
            let isPreview = image.preview != nil && index == 0
            // A frame may be larger than the image.
            area = area.saturatingSum(frame.size.area)
            guard area <= max(maximumImages * image.size.area, minimumPixels) else { break }
            if frame.isShown, !isPreview, frame.isLast || frame.duration > 0 { return (area, hasPatches) }
            sections = sections.saturatingSum(frame.sections)
            guard index < maximumFrames, !frame.isExtended, sections <= maximumSections else { break }
            var table = BitCursor(
                JXLContainer.bytes(file, fragments: fragments, from: offset, maximum: headerBytes + 4 * frame.sections))
            table.skip(cursor.position)
            // Permuted sections have a compressed table.
            guard !table.flag() else { break }
            offset += end(ofSections: frame.sections, in: &table)
        }
        throw .cannotDecode(detail: "the image has too many layers")
    }

    private static func end(ofSections count: Int, in cursor: inout BitCursor) -> Int {
        cursor.align()
        let lengths = (0..<count).reduce(0) { sum, _ in
            sum + cursor.number((0, 10), (1_024, 14), (17_408, 22), (4_211_712, 30))
        }
        cursor.align()
        return cursor.position / 8 + lengths
    }
}
