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

    /// Returns the pixels of all frames, and whether a frame has patches (blended parts of earlier frames).
    ///
    /// - Parameter offset: The offset of the first frame in the codestream, which is in `parts` of the file.
    /// - Throws: If the frames are much larger than the image, or if there are many before the first shown one.
    static func work(
        _ file: RawSpan, parts: [Range<Int>], of image: JXLMetadata, from offset: Int
    ) throws(ImagingError) -> (area: Int, hasPatches: Bool) {
        var offset = offset
        var area = 0
        var sections = 0
        var hasPatches = false
        for index in 0...maximumFrames {
            let size = index == 0 ? image.preview ?? image.size : image.size
            var cursor = BitCursor(JXLContainer.bytes(file, parts: parts, from: offset, maximum: headerBytes))
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
                JXLContainer.bytes(file, parts: parts, from: offset, maximum: headerBytes + 4 * frame.sections))
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

/// `FrameHeader` (ISO/IEC 18181-1).
struct JXLFrame {
    private enum Kind { case regular, lowFrequency, referenceOnly, skipProgressive }

    private var kind = Kind.regular
    private(set) var size: PixelSize
    private(set) var isLast = true
    private(set) var duration = 0
    private(set) var hasPatches = false
    /// Whether it has extensions, which this version of the standard does not define.
    private(set) var isExtended = false
    /// The number of entries in the table of contents.
    private(set) var sections = 1

    var isShown: Bool { kind == .regular || kind == .skipProgressive }

    init(_ cursor: inout BitCursor, of image: JXLMetadata, whole: PixelSize) {
        size = whole
        if cursor.flag() { return }
        kind = [.regular, .lowFrequency, .referenceOnly, .skipProgressive][cursor.bits(2)]
        let isModular = cursor.flag()
        let flags = cursor.longNumber()
        hasPatches = flags & 2 != 0
        let isYCbCr = !image.isXYB && cursor.flag()
        var upsampling = 1
        var groupSide = 256
        // Absent if another frame has the low frequencies.
        if flags & 32 == 0 {
            if isYCbCr { cursor.skip(6) }
            upsampling = 1 << cursor.bits(2)
            cursor.skip(2 * image.extraChannels)
        }
        if isModular { groupSide = 128 << cursor.bits(2) } else if image.isXYB { cursor.skip(6) }
        let passes = kind == .referenceOnly ? 1 : Self.passes(&cursor)
        var isPartial = false
        if kind == .lowFrequency {
            size = size.divided(by: 8 << (3 * cursor.bits(2)))
        } else if cursor.flag() {
            isPartial = readCrop(&cursor, of: whole)
        }
        readBlending(&cursor, of: image, isPartial: isPartial)
        cursor.skip(8 * cursor.number((0, 0), (0, 4), (16, 5), (48, 10)))
        skipFilters(&cursor, isModular: isModular)
        isExtended = cursor.longNumber() != 0 || isExtended

        let coded = size.divided(by: upsampling)
        let groups = coded.divided(by: groupSide).area
        sections = groups == 1 && passes == 1 ? 1 : 2 + coded.divided(by: 8 * groupSide).area + groups * passes
    }

    private static func passes(_ cursor: inout BitCursor) -> Int {
        let passes = cursor.number((1, 0), (2, 0), (3, 0), (4, 3))
        guard passes > 1 else { return 1 }
        let reduced = cursor.number((0, 0), (1, 0), (2, 0), (3, 1))
        cursor.skip(2 * (passes - 1) + 2 * reduced)
        for _ in 0..<reduced { _ = cursor.number((0, 0), (1, 0), (2, 0), (0, 3)) }
        return passes
    }

    /// Whether the frame is shown and covers less than the image.
    private mutating func readCrop(_ cursor: inout BitCursor, of whole: PixelSize) -> Bool {
        func side() -> Int { cursor.number((0, 8), (256, 11), (2_304, 14), (18_688, 30)) }
        // Even numbers are positive, odd numbers negative.
        func place() -> Int {
            let packed = isShown ? side() : 0
            return packed % 2 == 0 ? packed / 2 : -(packed + 1) / 2
        }
        let left = place()
        let top = place()
        size = PixelSize(width: side(), height: side())
        return isShown && (left > 0 || top > 0 || left + size.width < whole.width || top + size.height < whole.height)
    }

    private mutating func readBlending(_ cursor: inout BitCursor, of image: JXLMetadata, isPartial: Bool) {
        var mode = 0
        isLast = false
        if isShown {
            mode = Self.blending(&cursor, of: image, isPartial: isPartial)
            for _ in 0..<image.extraChannels { _ = Self.blending(&cursor, of: image, isPartial: isPartial) }
            if image.isAnimation {
                duration = cursor.number((0, 0), (1, 0), (0, 8), (0, 32))
                if image.hasTimecodes { cursor.skip(32) }
            }
            isLast = cursor.flag()
        }
        let slot = kind != .lowFrequency && !isLast ? cursor.bits(2) : 0
        let mayBeStored = isShown && !isLast && mode == 0 && !isPartial && (duration == 0 || slot > 0)
        if kind == .referenceOnly || mayBeStored { cursor.skip(1) }
    }

    /// Reads the blend mode; 0 is replace.
    private static func blending(_ cursor: inout BitCursor, of image: JXLMetadata, isPartial: Bool) -> Int {
        let mode = cursor.number((0, 0), (1, 0), (2, 0), (3, 2))
        let usesAlpha = image.extraChannels > 0 && (mode == 2 || mode == 3)
        if usesAlpha { _ = cursor.number((0, 0), (1, 0), (2, 0), (3, 3)) }
        if usesAlpha || mode == 4 { cursor.skip(1) }
        if mode > 0 || isPartial { cursor.skip(2) }
        return mode
    }

    private mutating func skipFilters(_ cursor: inout BitCursor, isModular: Bool) {
        if cursor.flag() { return }
        if cursor.flag(), cursor.flag() { cursor.skip(6 * 16) }
        if cursor.bits(2) > 0 {
            if !isModular, cursor.flag() { cursor.skip(8 * 16) }
            if cursor.flag() { cursor.skip(5 * 16) }
            if cursor.flag() { cursor.skip((isModular ? 3 : 4) * 16) }
            if isModular { cursor.skip(16) }
        }
        isExtended = cursor.longNumber() != 0
    }
}

extension PixelSize {
    fileprivate func divided(by divisor: Int) -> PixelSize {
        PixelSize(width: (width + divisor - 1) / divisor, height: (height + divisor - 1) / divisor)
    }
}
