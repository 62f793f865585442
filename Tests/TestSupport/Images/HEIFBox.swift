/// Writes boxes of AVIF and HEIC files.
package enum HEIFBox {
    package static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        (content.count + 8).bigEndian32 + Array(type.utf8) + content
    }

    /// A box with version and flags.
    package static func full(_ type: String, version: UInt8 = 0, flags: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
        box(type, [version, 0, 0, flags] + content)
    }

    package static func size(_ width: Int, _ height: Int) -> [UInt8] {
        full("ispe", width.bigEndian32 + height.bigEndian32)
    }

    /// A clean aperture of this size, whose center is offset from the image's center by this number of half pixels.
    package static func aperture(_ width: Int, _ height: Int, right: Int = 0, down: Int = 0) -> [UInt8] {
        let offsets = [right, down].flatMap { ($0 & 0xFFFF_FFFF).bigEndian32 + 2.bigEndian32 }
        return box("clap", [width, 1, height, 1].flatMap(\.bigEndian32) + offsets)
    }

    /// Quarter turns counterclockwise.
    package static func rotation(_ quarters: UInt8) -> [UInt8] { box("irot", [quarters]) }

    /// 0 swaps top and bottom, 1 swaps left and right.
    package static func mirror(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }

    /// Bits per component.
    package static func depths(_ values: [UInt8]) -> [UInt8] { full("pixi", [UInt8(values.count)] + values) }

    /// An AV1 configuration with these flags for depth and subsampling.
    package static func av1(_ flags: UInt8) -> [UInt8] { box("av1C", [0x81, 0, flags, 0]) }

    /// An HEVC configuration with this chroma format and the bits beyond eight.
    package static func hevc(chroma: UInt8, extraBits: UInt8) -> [UInt8] {
        box("hvcC", [1] + [UInt8](repeating: 0, count: 15) + [0xFC | chroma, 0xF8 | extraBits, 0xF8, 0])
    }

    /// Code points of ITU-T H.273; by default sRGB with BT.601.
    package static func meaning(
        isFullRange: Bool, primaries: UInt8 = 1, transfer: UInt8 = 13, matrix: UInt8 = 6
    ) -> [UInt8] {
        box("colr", Array("nclx".utf8) + [0, primaries, 0, transfer, 0, matrix, isFullRange ? 0x80 : 0])
    }

    package static func profile(_ profile: [UInt8]) -> [UInt8] { box("colr", Array("prof".utf8) + profile) }

    /// Marks an alpha plane.
    package static let alpha = auxiliary("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")

    /// Marks an auxiliary image of this kind.
    package static func auxiliary(_ kind: String) -> [UInt8] { full("auxC", Array("\(kind)\0".utf8)) }
}
