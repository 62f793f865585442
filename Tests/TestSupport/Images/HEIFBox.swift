/// Boxes of AVIF and HEIC files, byte by byte.
package enum HEIFBox {
    /// A box of this type.
    package static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        (content.count + 8).bigEndian32 + Array(type.utf8) + content
    }

    /// A box with a version and flags.
    package static func full(_ type: String, version: UInt8 = 0, flags: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
        box(type, [version, 0, 0, flags] + content)
    }

    /// The size of a stored image.
    package static func size(_ width: Int, _ height: Int) -> [UInt8] {
        full("ispe", width.bigEndian32 + height.bigEndian32)
    }

    /// A part of this size; its center is this number of half pixels right of and below the image's.
    package static func aperture(_ width: Int, _ height: Int, right: Int = 0, down: Int = 0) -> [UInt8] {
        let offsets = [right, down].flatMap { ($0 & 0xFFFF_FFFF).bigEndian32 + 2.bigEndian32 }
        return box("clap", [width, 1, height, 1].flatMap(\.bigEndian32) + offsets)
    }

    /// Quarter turns against the clock.
    package static func rotation(_ quarters: UInt8) -> [UInt8] { box("irot", [quarters]) }

    /// 1 exchanges left and right, 0 top and bottom.
    package static func mirror(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }

    /// Bits of each component.
    package static func depths(_ values: [UInt8]) -> [UInt8] { full("pixi", [UInt8(values.count)] + values) }

    /// How AV1 samples are coded: the flags of depth and subsampling.
    package static func av1(_ flags: UInt8) -> [UInt8] { box("av1C", [0x81, 0, flags, 0]) }

    /// How HEVC samples are coded: the format of chroma, and the bits beyond eight.
    package static func hevc(chroma: UInt8, extraBits: UInt8) -> [UInt8] {
        box("hvcC", [1] + [UInt8](repeating: 0, count: 15) + [0xFC | chroma, 0xF8 | extraBits, 0xF8, 0])
    }

    /// The meaning of an image's samples by code points of ITU-T H.273, unless others are given sRGB in BT.601, of full
    /// or limited range.
    package static func meaning(
        isFullRange: Bool, primaries: UInt8 = 1, transfer: UInt8 = 13, matrix: UInt8 = 6
    ) -> [UInt8] {
        box("colr", Array("nclx".utf8) + [0, primaries, 0, transfer, 0, matrix, isFullRange ? 0x80 : 0])
    }

    /// An ICC profile in a `colr` box.
    package static func profile(_ profile: [UInt8]) -> [UInt8] { box("colr", Array("prof".utf8) + profile) }

    /// The mark of an alpha plane.
    package static let alpha = auxiliary("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")

    /// The mark of an auxiliary image of this kind.
    package static func auxiliary(_ kind: String) -> [UInt8] { full("auxC", Array("\(kind)\0".utf8)) }
}
