import Memory
import Recipes

/// The size and metadata at the start of the codestream, which are not compressed.
///
/// The number of frames is known only after all frames were read. So an animation counts as a still, its first frame.
enum JXLHeader {
    static func read(_ bytes: RawSpan) throws(ImagingError) -> ImageHeader {
        var cursor = BitCursor(try JXLContainer.start(ofCodestreamIn: bytes))
        guard try cursor.bits(16) == 0x0AFF else { throw .cannotDecode(detail: "the JPEG XL file has no codestream") }
        let size = try cursor.jxlSize()
        let metadata = try JXLMetadata(&cursor)
        let bands = (metadata.isGray ? 1 : 3) + (metadata.hasAlpha ? 1 : 0)
        // A decoder reads all channels, visible or not.
        let area = size.area.multipliedReportingOverflow(by: metadata.extraChannels + 3)
        return ImageHeader(
            format: .jxl, storedSize: size, decodedArea: area.overflow ? .max : area.partialValue / 3,
            orientation: metadata.orientation, bands: bands, bitDepth: max(8, metadata.bitDepth),
            hasAlpha: metadata.hasAlpha, profileByteCount: metadata.hasProfile ? 1 : 0,
            exif: JXLContainer.texts(bytes)
        ).with(metadata.colors)
    }
}

enum JXLContainer {
    /// The first box of a file of boxes.
    static let signature: [UInt8] = [0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]

    /// More than the longest header without names of channels.
    private static let most = 4_096

    static func start(ofCodestreamIn bytes: RawSpan) throws(ImagingError) -> [UInt8] {
        var start: [UInt8] = []
        for part in try parts(bytes, most: most) { start += try copied(bytes, part.prefix(most - start.count)) }
        return start
    }

    /// Without a copy if the codestream is in one box; of a damaged container the whole file.
    static func codestream(in file: SharedBytes) -> SharedBytes {
        guard let parts = try? file.withBytes({ bytes throws(ImagingError) in try parts(bytes) }) else { return file }
        if parts.count == 1 { return SharedBytes(parts[0], of: file) }
        var joined = ByteAccumulator(reservingCapacity: parts.byteCount)
        for part in parts {
            unsafe file.withUnsafeBytes { unsafe joined.append(UnsafeRawBufferPointer(rebasing: $0[part])) }
        }
        return joined.finish()
    }

    private static func parts(_ bytes: RawSpan, most: Int = .max) throws(ImagingError) -> [Range<Int>] {
        guard bytes.hasBytes(signature, at: 0) else { return [0..<bytes.byteCount] }
        var boxes = BoxCursor(0..<bytes.byteCount, mayBeCut: true)
        var (parts, count) = ([Range<Int>](), 0)
        while count < most, let box = try boxes.next(in: bytes) {
            switch box.type {
            case BoxCursor.type("jxlc"): return parts + [box.contents]
            // Each part begins with its number.
            case BoxCursor.type("jxlp"): parts.append(box.contents.dropFirst(4))
            default: continue
            }
            count += parts.last?.count ?? 0
        }
        return parts
    }

    /// Maximum number of boxes that are walked to find EXIF data.
    private static let maximumBoxes = 10_000

    /// Boxes that are compressed with Brotli (`brob`) are not read; with damage, at most the texts are lost.
    static func texts(_ bytes: RawSpan) -> EXIFTexts? {
        guard bytes.hasBytes(signature, at: 0) else { return nil }
        var boxes = BoxCursor(0..<bytes.byteCount, mayBeCut: true)
        for _ in 0..<maximumBoxes {
            guard let box = try? boxes.next(in: bytes) else { return nil }
            if box.type == BoxCursor.type("Exif") { return EXIFTexts(offset: bytes, range: box.contents) }
        }
        return nil
    }

    private static func copied(_ bytes: RawSpan, _ range: Range<Int>) throws(ImagingError) -> [UInt8] {
        var copy: [UInt8] = []
        for offset in range { copy.append(UInt8(try bytes.byte(at: offset))) }
        return copy
    }
}

extension BitCursor {
    mutating func jxlSize() throws(ImagingError) -> PixelSize {
        let isSmall = try flag()
        func side(_ cursor: inout BitCursor) throws(ImagingError) -> Int {
            isSmall ? 8 * (1 + (try cursor.bits(5))) : try cursor.number((1, 9), (1, 13), (1, 18), (1, 30))
        }
        let height = try side(&self)
        let ratio = try bits(3)
        let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let width = try ratio == 0 ? side(&self) : height * ratios[ratio - 1].0 / ratios[ratio - 1].1
        return PixelSize(width: width, height: height)
    }

    mutating func jxlDepth() throws(ImagingError) -> Int {
        guard try flag() else { return try number((8, 0), (10, 0), (12, 0), (1, 6)) }
        let bits = try number((32, 0), (16, 0), (24, 0), (1, 6))
        _ = try self.bits(4)
        return bits
    }
}

private struct JXLMetadata {
    private(set) var orientation = QuarterTurn.none
    private(set) var bitDepth = 8
    private(set) var extraChannels = 0
    private(set) var hasAlpha = false
    private(set) var isGray = false
    private(set) var hasProfile = false
    /// libjxl converts all but PQ and HLG, so that others have no ``SourceColors/encoding``.
    private(set) var colors: SourceColors?

    private static let maximumExtraChannels = 16

    init(_ cursor: inout BitCursor) throws(ImagingError) {
        if try cursor.flag() { return }
        if try cursor.flag() {
            orientation = QuarterTurn(exif: try 1 + cursor.bits(3)) ?? .none
            if try cursor.flag() { _ = try cursor.jxlSize() }
            if try cursor.flag() { try Self.skipPreview(&cursor) }
            if try cursor.flag() { try Self.skipAnimation(&cursor) }
        }
        bitDepth = try cursor.jxlDepth()
        _ = try cursor.flag()
        extraChannels = try cursor.number((0, 0), (1, 0), (2, 4), (1, 12))
        guard extraChannels <= Self.maximumExtraChannels else {
            throw .cannotDecode(detail: "a JPEG XL file of \(extraChannels) extra channels")
        }
        for _ in 0..<extraChannels {
            let kind = try Self.channel(&cursor)
            // libjxl does not convert the fourth ink.
            guard kind != .black else { throw .cannotDecode(detail: "a JPEG XL file in CMYK") }
            hasAlpha = hasAlpha || kind == .alpha
        }
        _ = try cursor.flag()
        try readColor(&cursor)
    }

    private enum Channel { case alpha, black, other }

    private static func skipPreview(_ cursor: inout BitCursor) throws(ImagingError) {
        let isSmall = try cursor.flag()
        func side(_ cursor: inout BitCursor) throws(ImagingError) {
            _ =
                try isSmall
                ? cursor.number((16, 0), (32, 0), (1, 5), (33, 9))
                : cursor.number((1, 6), (65, 8), (321, 10), (1_345, 12))
        }
        try side(&cursor)
        if try cursor.bits(3) == 0 { try side(&cursor) }
    }

    private static func skipAnimation(_ cursor: inout BitCursor) throws(ImagingError) {
        _ = try cursor.number((100, 0), (1_000, 0), (1, 10), (1, 30))
        _ = try cursor.number((1, 0), (1_001, 0), (1, 8), (1, 10))
        _ = try cursor.number((0, 0), (0, 3), (0, 16), (0, 32))
        _ = try cursor.flag()
    }

    private static func channel(_ cursor: inout BitCursor) throws(ImagingError) -> Channel {
        if try cursor.flag() { return .alpha }
        let type = try cursor.choice()
        _ = try cursor.jxlDepth()
        _ = try cursor.number((0, 0), (3, 0), (4, 0), (1, 3))
        let nameLength = try cursor.number((0, 0), (0, 4), (16, 5), (48, 10))
        for _ in 0..<nameLength { _ = try cursor.bits(8) }
        switch type {
        case 0: _ = try cursor.flag()
        case 2: for _ in 0..<4 { try cursor.skipHalf() }
        case 5: _ = try cursor.number((1, 0), (0, 2), (3, 4), (19, 8))
        default: break
        }
        return type == 0 ? .alpha : type == 4 ? .black : .other
    }

    /// `ColourEncoding`; nothing after this is needed.
    private mutating func readColor(_ cursor: inout BitCursor) throws(ImagingError) {
        if try cursor.flag() { return }
        // An ICC profile is compressed.
        let hasICC = try cursor.flag()
        let space = try cursor.choice()
        isGray = space == 1
        hasProfile = true
        if !isGray { colors = SourceColors(.other) }
        guard !hasICC, space == 0 else { return }
        func places(_ count: Int) throws(ImagingError) {
            for _ in 0..<2 * count { _ = try cursor.number((0, 19), (524_288, 19), (1_048_576, 20), (2_097_152, 21)) }
        }
        let white = try cursor.choice()
        if white == 2 { try places(1) }
        let primaries = try cursor.choice()
        if primaries == 2 { try places(3) }
        let isPower = try cursor.flag()
        let transfer = try isPower ? cursor.bits(24) : cursor.choice()
        let codes = [1: 1, 9: 9, 11: white == 11 ? 11 : 12]
        guard !isPower, white == 1 || white == 11, let primaries = codes[primaries],
            let declared = SourceColors(primaries: primaries, transfer: transfer)
        else { return }
        colors = declared
        if declared.highRange == .none { colors?.encoding = nil }
    }
}

/// Least significant first within each byte.
struct BitCursor {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func bits(_ count: Int) throws(ImagingError) -> Int {
        guard place + count <= 8 * bytes.count else { throw .cannotDecode(detail: "the JPEG XL header is truncated") }
        var value = 0
        for index in 0..<count {
            value |= Int(bytes[(place + index) / 8] >> ((place + index) % 8) & 1) << index
        }
        place += count
        return value
    }

    mutating func flag() throws(ImagingError) -> Bool { try bits(1) == 1 }

    /// One of four forms, each a constant and the bits of an offset (ISO/IEC 18181-1, `U32`).
    mutating func number(
        _ forms: (add: Int, bits: Int), _ second: (add: Int, bits: Int), _ third: (add: Int, bits: Int),
        _ fourth: (add: Int, bits: Int)
    ) throws(ImagingError) -> Int {
        let form = [forms, second, third, fourth][try bits(2)]
        return try form.add + bits(form.bits)
    }

    mutating func choice() throws(ImagingError) -> Int { try number((0, 0), (1, 0), (2, 4), (18, 6)) }

    mutating func skipHalf() throws(ImagingError) { _ = try bits(16) }
}
