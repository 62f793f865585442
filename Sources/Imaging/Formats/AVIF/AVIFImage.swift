import Recipes

struct AVIFImage {
    let size: PixelSize
    let isGray: Bool
    let bits: Int
    let isWide: Bool
    let configuration: [UInt8]
    let frames: [AV1Encoder.Frame]

    init(_ encoder: AV1Encoder, frames: [AV1Encoder.Frame]) {
        (size, isGray, bits, isWide) = (encoder.size, encoder.isGray, encoder.bits, encoder.isWide)
        (configuration, self.frames) = (encoder.configuration, frames)
    }

    var byteCount: Int { frames.reduce(0) { $0 + $1.data.count } }

    var configurationBox: [UInt8] { AVIFBox.box("av1C", configuration) }

    /// The `colr` box: sRGB or Display P3 in full-range BT.601 Y'CbCr, as in JPEG, by the code points of ITU-T H.273.
    var colorBox: [UInt8] {
        AVIFBox.box("colr", AVIFBox.letters("nclx"), AVIFBox.words(isWide ? 12 : 1, 13, 6), [0x80])
    }

    /// The auxiliary type of an alpha plane, null-terminated.
    static let alphaKind = AVIFBox.letters("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")

    /// The file's brands (AV1 Image File Format, section 8): images with full-size chroma are in the Advanced profile.
    static func fileType(_ brand: StaticString, _ brands: StaticString, isGray: Bool) -> [UInt8] {
        AVIFBox.box(
            "ftyp", AVIFBox.letters(brand), AVIFBox.zeros(4), AVIFBox.letters(brands),
            AVIFBox.letters(isGray ? "MA1B" : "MA1A"))
    }
}
