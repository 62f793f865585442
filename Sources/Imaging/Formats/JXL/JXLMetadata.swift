import Recipes

/// The size and `ImageMetadata` (ISO/IEC 18181-1).
struct JXLMetadata {
    let size: PixelSize
    private(set) var orientation = QuarterTurn.none
    private(set) var preview: PixelSize?
    private(set) var isAnimation = false
    private(set) var hasTimecodes = false
    private(set) var bitDepth = 8
    private(set) var extraChannels = 0
    private(set) var hasAlpha = false
    /// Whether the colors are stored in XYB.
    private(set) var isXYB = true
    private(set) var isGray = false
    private(set) var hasProfile = false
    private(set) var hasICC = false
    /// The colors; only PQ and HLG have ``SourceColors/encoding``, because libjxl converts all others.
    private(set) var colors: SourceColors?
    /// Whether it has extensions, which this version of the standard does not define.
    private var isExtended = false

    private static let maximumExtraChannels = 16

    init(_ cursor: inout BitCursor) throws(ImagingError) {
        size = cursor.jxlSize()
        if cursor.flag() { return }
        let isLong = cursor.flag()
        if isLong {
            orientation = QuarterTurn(exif: 1 + cursor.bits(3)) ?? .none
            if cursor.flag() { _ = cursor.jxlSize() }
            if cursor.flag() { preview = cursor.jxlPreviewSize() }
            isAnimation = cursor.flag()
            if isAnimation { readAnimation(&cursor) }
        }
        bitDepth = cursor.jxlDepth()
        cursor.skip(1)
        extraChannels = cursor.number((0, 0), (1, 0), (2, 4), (1, 12))
        guard extraChannels <= Self.maximumExtraChannels else {
            throw .cannotDecode(detail: "a JPEG XL file of \(extraChannels) extra channels")
        }
        for _ in 0..<extraChannels {
            let kind = Self.channel(&cursor)
            // libjxl does not convert CMYK.
            guard kind != .black else { throw .cannotDecode(detail: "a JPEG XL file in CMYK") }
            hasAlpha = hasAlpha || kind == .alpha
        }
        isXYB = cursor.flag()
        readColor(&cursor)
        // `ToneMapping`.
        if isLong, !cursor.flag() { cursor.skip(49) }
        isExtended = cursor.longNumber() != 0
    }

    private enum Channel { case alpha, black, other }

    private mutating func readAnimation(_ cursor: inout BitCursor) {
        _ = cursor.number((100, 0), (1_000, 0), (1, 10), (1, 30))
        _ = cursor.number((1, 0), (1_001, 0), (1, 8), (1, 10))
        _ = cursor.number((0, 0), (0, 3), (0, 16), (0, 32))
        hasTimecodes = cursor.flag()
    }

    private static func channel(_ cursor: inout BitCursor) -> Channel {
        if cursor.flag() { return .alpha }
        let type = cursor.choice()
        _ = cursor.jxlDepth()
        _ = cursor.number((0, 0), (3, 0), (4, 0), (1, 3))
        cursor.skip(8 * cursor.number((0, 0), (0, 4), (16, 5), (48, 10)))
        switch type {
        case 0: cursor.skip(1)
        case 2: cursor.skip(4 * 16)
        case 5: _ = cursor.number((1, 0), (0, 2), (3, 4), (19, 8))
        default: break
        }
        return type == 0 ? .alpha : type == 4 ? .black : .other
    }

    /// Reads `ColourEncoding`.
    private mutating func readColor(_ cursor: inout BitCursor) {
        if cursor.flag() { return }
        hasICC = cursor.flag()
        let space = cursor.choice()
        isGray = space == 1
        hasProfile = true
        if !isGray { colors = SourceColors(.other) }
        guard !hasICC else { return }
        defer { _ = cursor.choice() }
        guard space != 2 else { return }
        func skipChromaticities(_ count: Int) {
            for _ in 0..<2 * count { _ = cursor.number((0, 19), (524_288, 19), (1_048_576, 20), (2_097_152, 21)) }
        }
        let white = cursor.choice()
        if white == 2 { skipChromaticities(1) }
        let primaries = isGray ? 1 : cursor.choice()
        if primaries == 2 { skipChromaticities(3) }
        let isPower = cursor.flag()
        let transfer = isPower ? cursor.bits(24) : cursor.choice()
        let codes = [1: 1, 9: 9, 11: white == 11 ? 11 : 12]
        guard space == 0, !isPower, white == 1 || white == 11, let code = codes[primaries],
            let declared = SourceColors(primaries: code, transfer: transfer)
        else { return }
        colors = declared
        if declared.hdrFormat == .none { colors?.encoding = nil }
    }

    /// Returns the byte offset of the first frame; nil if a compressed profile or an extension precedes it.
    func firstFrame(_ cursor: inout BitCursor) -> Int? {
        guard !isExtended else { return nil }
        // `CustomTransformData`: the color matrix and the upsampling weights.
        if !cursor.flag() {
            if isXYB, !cursor.flag() { cursor.skip(16 * 16) }
            let weights = cursor.bits(3)
            for (index, count) in [15, 55, 210].enumerated() where weights >> index & 1 == 1 { cursor.skip(16 * count) }
        }
        cursor.align()
        return hasICC ? nil : cursor.position / 8
    }
}
