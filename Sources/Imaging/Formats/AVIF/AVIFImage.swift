import Memory
import Recipes

struct AVIFImage {
    let size: PixelSize
    let isGray: Bool
    let bits: Int
    let isWide: Bool
    let configuration: [UInt8]
    let frames: [AV1Encoder.Frame]

    init(_ encoder: AV1Encoder, frames: [AV1Encoder.Frame]) {
        size = encoder.size
        isGray = encoder.isGray
        bits = encoder.bits
        isWide = encoder.isWide
        configuration = encoder.configuration
        self.frames = frames
    }

    var byteCount: Int { frames.reduce(0) { $0 + $1.data.count } }

    var configurationBox: [UInt8] { AVIFBox.box("av1C", configuration) }

    var colorBox: [UInt8] {
        AVIFBox.box("colr", AVIFBox.letters("nclx"), AVIFBox.words(isWide ? 12 : 1, 13, 6), [0x80])
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

enum AVIFBox {
    static func box(_ type: StaticString, _ contents: [UInt8]...) -> [UInt8] {
        let count = contents.reduce(8) { $0 + $1.count }
        return contents.reduce(into: UInt32(count).bigEndianBytes() + letters(type)) { $0 += $1 }
    }

    static func full(_ type: StaticString, version: UInt32 = 0, flags: UInt32 = 0, _ contents: [UInt8]...) -> [UInt8] {
        let content = contents.reduce(into: (version << 24 | flags).bigEndianBytes()) { $0 += $1 }
        return box(type, content)
    }

    static func letters(_ text: StaticString) -> [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    static func words(_ numbers: Int...) -> [UInt8] { numbers.flatMap { UInt16($0).bigEndianBytes() } }

    static func longs(_ numbers: Int...) -> [UInt8] { numbers.flatMap { UInt32($0).bigEndianBytes() } }

    static func wide(_ number: UInt64) -> [UInt8] { number.bigEndianBytes() }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
