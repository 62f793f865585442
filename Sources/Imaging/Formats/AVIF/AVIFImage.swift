import Memory
import Recipes

struct AVIFImage {
    let size: PixelSize
    let isGray: Bool
    let bits: Int
    let isDisplayP3: Bool
    let configuration: [UInt8]
    let frames: [AV1Encoder.Frame]

    init(_ encoder: AV1Encoder, frames: [AV1Encoder.Frame]) {
        size = encoder.size
        isGray = encoder.isGray
        bits = encoder.bits
        isDisplayP3 = encoder.isDisplayP3
        configuration = encoder.configuration
        self.frames = frames
    }

    var byteCount: Int { frames.reduce(0) { $0 + $1.data.count } }

    var configurationBox: [UInt8] { AVIFBox.box("av1C", configuration) }

    var colorBox: [UInt8] {
        AVIFBox.box("colr", AVIFBox.letters("nclx"), AVIFBox.words(isDisplayP3 ? 12 : 1, 13, 6), [0x80])
    }

    /// The auxiliary type of an alpha plane, null-terminated.
    static let alphaKind = AVIFBox.letters("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")

    /// Returns the `ftyp` box; full-size chroma requires the Advanced profile (AV1 Image File Format, section 8).
    static func fileType(_ brand: StaticString, compatibleBrands brands: StaticString, isGray: Bool) -> [UInt8] {
        AVIFBox.box(
            "ftyp", AVIFBox.letters(brand), AVIFBox.zeros(4), AVIFBox.letters(brands),
            AVIFBox.letters(isGray ? "MA1B" : "MA1A"))
    }
}
