/// One property of an item (ISO/IEC 23008-12 section 6.5).
enum HEIFProperty: Equatable {
    /// `ispe`: the size of the stored image.
    case size(PixelSize)
    /// `clap`: the part that is shown.
    case aperture(HEIFAperture)
    /// `irot`: whether width and height are exchanged.
    case rotation(isSideways: Bool)
    /// `pixi`: bits of each component.
    case depths([Int])
    /// `av1C` or `hvcC`: bits of each component as coded, and whether chroma is subsampled.
    case coding(depth: Int, isSubsampled: Bool)
    /// `colr` with an ICC profile of this size.
    case profile(byteCount: Int)
    /// `auxC` of an alpha plane.
    case alpha
    case other

    /// Reads the property in `box`.
    init(_ bytes: RawSpan, _ box: BoxCursor.Box) throws(ImagingError) {
        let start = box.contents.lowerBound
        switch box.type {
        case BoxCursor.type("ispe"):
            self = try .size(
                PixelSize(width: bytes.bigEndian32(at: start + 4), height: bytes.bigEndian32(at: start + 8)))
        case BoxCursor.type("clap"):
            self = try .aperture(HEIFAperture(bytes, at: start))
        case BoxCursor.type("irot"):
            self = try .rotation(isSideways: bytes.byte(at: start) & 1 == 1)
        case BoxCursor.type("pixi"):
            var depths: [Int] = []
            for index in 0..<(try bytes.byte(at: start + 4)) {
                depths.append(try bytes.byte(at: start + 5 + index))
            }
            self = .depths(depths)
        case BoxCursor.type("av1C"):
            // AV1 Codec ISO Media File Format Binding, section 2.3.3; a grey image has both subsampling bits set.
            let flags = try bytes.byte(at: start + 2)
            self = .coding(
                depth: flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12, isSubsampled: flags & 0x08 != 0)
        case BoxCursor.type("hvcC"):
            // ISO/IEC 14496-15 section 8.3.2.1.
            let chroma = try bytes.byte(at: start + 16) & 3
            self = try .coding(depth: 8 + bytes.byte(at: start + 17) & 7, isSubsampled: chroma != 3)
        case BoxCursor.type("colr") where bytes.hasText("prof", at: start) || bytes.hasText("rICC", at: start):
            self = .profile(byteCount: box.contents.count - 4)
        case BoxCursor.type("auxC")
        where bytes.hasText("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", at: start + 4)
            || bytes.hasText("urn:mpeg:hevc:2015:auxid:1", at: start + 4):
            self = .alpha
        default:
            self = .other
        }
    }

    /// The size of an image with these properties after it was cropped and turned in their order.
    ///
    /// The stored size may be at any place among them.
    static func shownSize(by properties: [HEIFProperty]) throws(ImagingError) -> PixelSize {
        var stored: PixelSize?
        for case .size(let size) in properties { stored = size }
        guard var size = stored, size.width > 0, size.height > 0 else {
            throw .cannotDecode(detail: "the HEIF file's primary item has no size")
        }
        for property in properties {
            switch property {
            case .aperture(let aperture): size = try aperture.size(in: size)
            case .rotation(isSideways: true): size = PixelSize(width: size.height, height: size.width)
            default: break
            }
        }
        return size
    }
}
