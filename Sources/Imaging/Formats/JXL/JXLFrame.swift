import Recipes

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

    /// Returns whether the frame is shown and covers less than the image.
    private mutating func readCrop(_ cursor: inout BitCursor, of whole: PixelSize) -> Bool {
        func side() -> Int { cursor.number((0, 8), (256, 11), (2_304, 14), (18_688, 30)) }
        // Even numbers are positive, odd numbers negative.
        func coordinate() -> Int {
            let packed = isShown ? side() : 0
            return packed % 2 == 0 ? packed / 2 : -(packed + 1) / 2
        }
        let left = coordinate()
        let top = coordinate()
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
