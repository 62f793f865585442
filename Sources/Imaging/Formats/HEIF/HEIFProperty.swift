import Recipes

enum HEIFProperty: Equatable {
    /// `ispe`: the size of the stored image.
    case size(PixelSize)
    /// `clap`: the visible part.
    case aperture(HEIFAperture)
    /// `irot`: counterclockwise quarter turns, 0…3.
    case rotation(quarters: Int)
    /// `imir`: whether to swap top and bottom, or left and right.
    case mirror(isDown: Bool)
    /// `pixi`: the bits of each component.
    case depths([Int])
    /// `av1C` or `hvcC`: the coded depth, and the range of the box's contents.
    case coding(depth: Int, isSubsampled: Bool, parameters: Range<Int>)
    /// `colr` with an ICC profile in this range.
    case profile(Range<Int>)
    case colors(HEIFColors)
    /// `clli` or `mdcv`: the maximum luminance of the image or its mastering display in cd/m².
    case peak(content: Int, display: Int)
    /// `auxC` of an alpha plane.
    case alpha
    /// `auxC` of Apple's gain map.
    case gainMap
    /// `a1op`: the operating point of scalable AV1.
    case operatingPoint(Int)
    case other

    init(_ bytes: RawSpan, box: BoxCursor.Box) throws(ImagingError) {
        let start = box.contents.lowerBound
        switch box.type {
        case BoxCursor.type("ispe"):
            self = try .size(
                PixelSize(width: bytes.bigEndian32(at: start + 4), height: bytes.bigEndian32(at: start + 8)))
        case BoxCursor.type("clap"): self = try .aperture(HEIFAperture(bytes, at: start))
        case BoxCursor.type("irot"): self = try .rotation(quarters: bytes.byte(at: start) & 3)
        case BoxCursor.type("imir"): self = try .mirror(isDown: bytes.byte(at: start) & 1 == 0)
        case BoxCursor.type("pixi"):
            var depths: [Int] = []
            // An image has one or three components; alpha is a separate image.
            for index in 0..<(try min(4, bytes.byte(at: start + 4))) {
                depths.append(try bytes.byte(at: start + 5 + index))
            }
            self = .depths(depths)
        case BoxCursor.type("av1C"):
            // AV1 Codec ISO Media File Format Binding, section 2.3.3; a gray image has both subsampling bits set.
            let flags = try bytes.byte(at: start + 2)
            self = .coding(
                depth: flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12, isSubsampled: flags & 0x08 != 0,
                parameters: box.contents)
        case BoxCursor.type("hvcC"):
            // ISO/IEC 14496-15 section 8.3.2.1.
            let chroma = try bytes.byte(at: start + 16) & 3
            self = try .coding(
                depth: 8 + bytes.byte(at: start + 17) & 7, isSubsampled: chroma != 3, parameters: box.contents)
        case BoxCursor.type("colr") where bytes.hasText("prof", at: start) || bytes.hasText("rICC", at: start):
            self = .profile(box.contents.dropFirst(4))
        case BoxCursor.type("colr") where bytes.hasText("nclx", at: start):
            self = try .colors(
                HEIFColors(
                    declared: SourceColors(
                        primaries: bytes.bigEndian16(at: start + 4), transfer: bytes.bigEndian16(at: start + 6)),
                    matrix: bytes.bigEndian16(at: start + 8), isFullRange: bytes.byte(at: start + 10) & 0x80 != 0))
        case BoxCursor.type("clli"): self = try .peak(content: bytes.bigEndian16(at: start), display: 0)
        case BoxCursor.type("mdcv"): self = try .peak(content: 0, display: bytes.bigEndian32(at: start + 16) / 10_000)
        case BoxCursor.type("a1op"): self = try .operatingPoint(bytes.byte(at: start))
        case BoxCursor.type("auxC")
        where bytes.hasText("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: start + 4)
            || bytes.hasText("urn:mpeg:hevc:2015:auxid:1", at: start + 4):
            self = .alpha
        case BoxCursor.type("auxC") where bytes.hasText("urn:com:apple:photo:2020:aux:hdrgainmap", at: start + 4):
            self = .gainMap
        default:
            self = .other
        }
    }

    /// Applies crops and turns in order; the stored size may come anywhere among them.
    static func transform(by properties: [HEIFProperty]) throws(ImagingError) -> HEIFTransform {
        guard let size = properties.size, size.width > 0, size.height > 0 else {
            throw .cannotDecode(detail: "the HEIF file's primary item has no size")
        }
        var transform = HEIFTransform(of: size)
        for property in properties { try transform.apply(property) }
        return transform
    }
}

extension [HEIFProperty] {
    var size: PixelSize? { lazy.compactMap { if case .size(let size) = $0 { size } else { nil } }.last }

    var parameters: Range<Int>? {
        lazy.compactMap { if case .coding(_, _, let range) = $0 { range } else { nil } }.last
    }

    var profile: Range<Int>? { lazy.compactMap { if case .profile(let range) = $0 { range } else { nil } }.first }

    var colors: HEIFColors? { lazy.compactMap { if case .colors(let colors) = $0 { colors } else { nil } }.first }
}

struct HEIFColors: Equatable {
    /// The declared colors; nil if only the matrix is known.
    var declared: SourceColors?
    /// The matrix as a code point of ITU-T H.273.
    let matrix: Int
    /// Whether black is 0 and white the maximum value.
    let isFullRange: Bool

    /// The matrix of YCgCo-Re, which needs all bits.
    static let reversible = 16
}
