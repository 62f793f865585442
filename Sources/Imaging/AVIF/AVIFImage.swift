/// Coded images, of which boxes tell the same in items and in tracks.
struct AVIFImage {
    let size: PixelSize
    let isGrey: Bool
    let bits: Int
    let isWide: Bool
    /// The contents of the `av1C` box.
    let configuration: [UInt8]
    let frames: [AV1Encoder.Frame]

    /// The frames that an encoder made.
    init(_ encoder: AV1Encoder, frames: [AV1Encoder.Frame]) {
        (size, isGrey, bits, isWide) = (encoder.size, encoder.isGrey, encoder.bits, encoder.isWide)
        (configuration, self.frames) = (encoder.configuration, frames)
    }

    /// Bytes of all frames together.
    var byteCount: Int { frames.reduce(0) { $0 + $1.data.count } }

    /// The box of the decoder's configuration.
    var configurationBox: [UInt8] { AVIFBox.box("av1C", configuration) }

    /// The box of the colors: sRGB or Display P3 in full-range BT.601 Y'CbCr, as in JPEG, by the numbers of ITU-T
    /// H.273.
    var colorBox: [UInt8] {
        AVIFBox.box("colr", AVIFBox.letters("nclx"), AVIFBox.words(isWide ? 12 : 1, 13, 6), [0x80])
    }

    /// The kind of an alpha plane, which ends with a zero.
    static let alphaKind = AVIFBox.letters("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")

    /// The brands of the file (AV1 Image File Format, section 8): images with chroma as large as luma are of the
    /// advanced profile.
    static func fileType(_ brand: StaticString, _ brands: StaticString, isGrey: Bool) -> [UInt8] {
        AVIFBox.box(
            "ftyp", AVIFBox.letters(brand), AVIFBox.zeros(4), AVIFBox.letters(brands),
            AVIFBox.letters(isGrey ? "MA1B" : "MA1A"))
    }
}
