import Recipes

/// A directory of a TIFF file (TIFF 6.0 section 8).
struct TIFFDirectory: Equatable {
    struct Value {
        let count: Int
        let numbers: [Int]
    }

    private var width = 0
    private var height = 0
    private var bits = [1]
    private var compression = 1
    private var photometric = -1
    private var orientation = QuarterTurn.none
    private var samples = 1
    private var sampleFormat = 1
    private var profileByteCount = 0
    private var tileWidth = 0
    private var tileHeight = 0
    private var hasPixels = false
    private(set) var isCopy = false
    static let profileTag = 34_675
    static let tilesTag = 324
    /// The cost of each JPEG tile in pixels.
    private static let tileArea = 400

    var isJPEG: Bool { compression == 7 }

    /// Uncompressed, three fax codings, LZW, JPEG, two codes for deflate, PackBits and Zstandard.
    private static let compressions: Set<Int> = [1, 2, 3, 4, 5, 7, 8, 32_773, 32_946, 50_000]
    private static let lab = 8

    mutating func read(tag: Int, value: Value) {
        guard let first = value.numbers.first else { return }
        switch tag {
        case 254: isCopy = isCopy || first & 5 != 0
        case 255: isCopy = isCopy || first == 2
        case 256: width = first
        case 257: height = first
        case 258: bits = value.numbers
        case 259: compression = first
        case 262: photometric = first
        case 273, 324: hasPixels = true
        case 274: orientation = QuarterTurn(exif: first) ?? .none
        case 277: samples = first
        case 322: tileWidth = first
        case 323: tileHeight = first
        case 339: sampleFormat = value.numbers.allSatisfy { $0 == first } ? first : 0
        case Self.profileTag: profileByteCount = value.count
        default: break
        }
    }

    private var unreadKind: String? {
        let codings = [
            6: "of old-style JPEG", 34_661: "of JBIG", 34_712: "of JPEG 2000", 34_887: "of LERC", 34_925: "of LZMA",
            50_001: "of WebP",
        ]
        let kinds = [
            4: "that is a transparency mask", 9: "in ICC L*a*b*", 10: "in ITU L*a*b*", 32_803: "of raw samples",
            32_844: "in LogL", 32_845: "in LogLuv", 34_892: "of raw samples",
        ]
        let formats = [
            2: "of signed numbers", 3: "of floating-point numbers", 5: "of complex numbers", 6: "of complex numbers",
        ]
        let depth = bits.first ?? 1
        return codings[compression] ?? kinds[photometric] ?? formats[sampleFormat]
            ?? (depth > 16 ? "of \(depth) bits a sample" : nil)
    }

    func header(pages: Int, exif: EXIFTexts?) throws(ImagingError) -> ImageHeader {
        let colors = [0: 1, 1: 1, 2: 3, 3: 3, 5: 4, 6: 3, Self.lab: 3][photometric]
        let depth = bits.first ?? 1
        if let kind = unreadKind { throw .unsupported("a TIFF \(kind)") }
        guard let colors, hasPixels, (1...Int(UInt32.max)).contains(width), (1...Int(UInt32.max)).contains(height),
            Self.compressions.contains(compression), sampleFormat == 1, [1, 2, 4, 8, 16].contains(depth),
            bits.allSatisfy({ $0 == depth }), depth >= 8 || samples == 1,
            photometric == 3 ? samples == 1 && depth <= 8 : samples >= colors && samples <= colors + 1,
            photometric != Self.lab || samples == 3 && depth >= 8
        else {
            throw .cannotDecode(
                detail: "unknown TIFF of \(width)×\(height), kind \(photometric), compression \(compression), "
                    + "\(samples) samples of \(depth) bits, sample format \(sampleFormat)")
        }
        // Tiles at the edges are decoded completely.
        func filled(_ side: Int, by tile: Int) -> Int { tile > 0 ? (side + tile - 1) / tile * tile : side }
        let size = PixelSize(width: width, height: height)
        let decoded = PixelSize(
            width: filled(width, by: min(tileWidth, 1 << 32)), height: filled(height, by: min(tileHeight, 1 << 32)))
        let tileCount = decoded.area / max(1, tileWidth.saturatingProduct(tileHeight))
        let hasAlpha = photometric != 3 && samples > colors
        return ImageHeader(
            format: .tiff, storedSize: size,
            work: DecoderWork(
                area: decoded.area, hiddenArea: isJPEG ? tileCount.saturatingProduct(Self.tileArea) : 0),
            orientation: orientation,
            bands: min(4, colors + (hasAlpha ? 1 : 0)), bitDepth: max(8, depth), frames: pages, hasAlpha: hasAlpha,
            profileByteCount: profileByteCount, exif: exif)
    }
}
