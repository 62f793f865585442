import Recipes

/// An image and an optional alpha plane (ISO/IEC 23008-12).
struct AVIFItems {
    let colors: AVIFImage
    let alpha: AVIFImage?

    var file: [UInt8] {
        let type = AVIFImage.fileType("avif", compatibleBrands: "avifmif1miaf", isGray: colors.isGray)
        let start = type.count + box(dataAt: 0).count + 8
        return type + box(dataAt: start) + AVIFBox.box("mdat", colors.frames[0].data, alpha?.frames[0].data ?? [])
    }

    /// - Parameter start: The offset of the image's data; the alpha plane's data follow.
    func box(dataAt start: Int) -> [UInt8] {
        let handler = AVIFBox.full("hdlr", AVIFBox.zeros(4), AVIFBox.letters("pict"), AVIFBox.zeros(13))
        let references = alpha == nil ? [] : AVIFBox.full("iref", AVIFBox.box("auxl", AVIFBox.words(2, 1, 1)))
        return AVIFBox.full(
            "meta", handler, AVIFBox.full("pitm", AVIFBox.words(1)), locations(dataAt: start), entries, references,
            properties)
    }

    private func locations(dataAt start: Int) -> [UInt8] {
        func location(of id: Int, offset: Int, length: Int) -> [UInt8] {
            AVIFBox.words(id, 0, 1) + AVIFBox.longs(offset, length)
        }
        let second =
            alpha.map { location(of: 2, offset: start + colors.byteCount, length: $0.frames[0].data.count) } ?? []
        return AVIFBox.full(
            "iloc", [0x44, 0], AVIFBox.words(alpha == nil ? 1 : 2),
            location(of: 1, offset: start, length: colors.frames[0].data.count), second)
    }

    private var entries: [UInt8] {
        func entry(_ id: Int) -> [UInt8] {
            AVIFBox.full("infe", version: 2, AVIFBox.words(id, 0), AVIFBox.letters("av01"), [0])
        }
        return AVIFBox.full("iinf", AVIFBox.words(alpha == nil ? 1 : 2), entry(1), alpha == nil ? [] : entry(2))
    }

    /// The properties and their associations with items; essential ones are marked.
    private var properties: [UInt8] {
        let size = AVIFBox.full("ispe", AVIFBox.longs(colors.size.width, colors.size.height))
        var boxes = size + depths(of: colors) + colors.configurationBox + colors.colorBox
        var links = AVIFBox.words(1) + [4, 1, 2, 0x83, 4]
        if let alpha {
            boxes += depths(of: alpha) + alpha.configurationBox + AVIFBox.full("auxC", AVIFImage.alphaKind)
            links += AVIFBox.words(2) + [4, 1, 5, 0x86, 7]
        }
        let association = AVIFBox.full("ipma", AVIFBox.longs(alpha == nil ? 1 : 2), links)
        return AVIFBox.box("iprp", AVIFBox.box("ipco", boxes), association)
    }

    private func depths(of image: AVIFImage) -> [UInt8] {
        let depths = [UInt8](repeating: UInt8(image.bits), count: image.isGray ? 1 : 3)
        return AVIFBox.full("pixi", [UInt8(depths.count)], depths)
    }
}
