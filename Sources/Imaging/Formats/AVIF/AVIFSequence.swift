import Recipes

/// A sequence of frames as tracks (ISO/IEC 14496-12 section 8), with the items of its first frame.
struct AVIFSequence {
    let items: AVIFItems
    /// The duration of each frame in milliseconds.
    private let delays: [Int]
    /// The number of repetitions; 0 for endless.
    private let loop: Int

    init(items: AVIFItems, delays: [Int], loop: Int) {
        self.items = items
        self.loop = loop
        self.delays = items.colors.frames.indices.map { index in
            index < delays.count && delays[index] > 0 ? delays[index] : 100
        }
    }

    /// The file, with the color frames before the alpha frames.
    var file: [UInt8] {
        let type = AVIFImage.fileType("avis", compatibleBrands: "avisavifmsf1iso8mif1miaf", isGray: items.colors.isGray)
        let start = type.count + items.box(dataAt: 0).count + movie(dataAt: 0).count + 8
        let data = (items.colors.frames + (items.alpha?.frames ?? [])).flatMap(\.data)
        return type + items.box(dataAt: start) + movie(dataAt: start) + AVIFBox.box("mdat", data)
    }

    private var duration: UInt64 { delays.reduce(0) { $0 + UInt64($1) } }

    /// The duration of all repetitions in milliseconds; all bits are set for endless ones.
    private var wholeDuration: UInt64 { loop == 0 ? .max : duration * UInt64(loop) }

    private func movie(dataAt start: Int) -> [UInt8] {
        let header = AVIFBox.full(
            "mvhd", version: 1, AVIFBox.zeros(16), AVIFBox.longs(1_000), AVIFBox.long64(wholeDuration),
            AVIFBox.longs(0x10000), AVIFBox.words(0x100), AVIFBox.zeros(10), Self.matrix, AVIFBox.zeros(24),
            AVIFBox.longs(items.alpha == nil ? 2 : 3))
        let colors = track(1, image: items.colors, dataAt: start)
        let alpha = items.alpha.map { track(2, image: $0, dataAt: start + items.colors.byteCount) } ?? []
        return AVIFBox.box("moov", header, colors, alpha)
    }

    private static let matrix = AVIFBox.longs(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000)

    private func track(_ id: Int, image: AVIFImage, dataAt start: Int) -> [UInt8] {
        let header = AVIFBox.full(
            "tkhd", version: 1, flags: 1, AVIFBox.zeros(16), AVIFBox.longs(id, 0), AVIFBox.long64(wholeDuration),
            AVIFBox.zeros(16), Self.matrix, AVIFBox.longs(image.size.width << 16, image.size.height << 16))
        let owner = id == 1 ? [] : AVIFBox.box("tref", AVIFBox.box("auxl", AVIFBox.longs(1)))
        let edits = AVIFBox.full(
            "elst", version: 1, flags: loop == 1 ? 0 : 1, AVIFBox.longs(1), AVIFBox.long64(duration), AVIFBox.long64(0),
            AVIFBox.words(1, 0))
        let mediaHeader = AVIFBox.full(
            "mdhd", version: 1, AVIFBox.zeros(16), AVIFBox.longs(1_000), AVIFBox.long64(duration),
            // The language is undetermined.
            AVIFBox.words(0x55C4, 0))
        let handler = AVIFBox.full(
            "hdlr", AVIFBox.zeros(4), AVIFBox.letters(id == 1 ? "pict" : "auxv"), AVIFBox.zeros(13))
        let dataInformation = AVIFBox.box(
            "dinf", AVIFBox.full("dref", AVIFBox.longs(1), AVIFBox.full("url ", flags: 1)))
        let information = AVIFBox.box(
            "minf", AVIFBox.full("vmhd", flags: 1, AVIFBox.zeros(8)), dataInformation,
            table(of: image, isAlpha: id > 1, dataAt: start))
        return AVIFBox.box(
            "trak", header, owner, AVIFBox.box("edts", edits), AVIFBox.box("mdia", mediaHeader, handler, information))
    }

    private func table(of image: AVIFImage, isAlpha: Bool, dataAt start: Int) -> [UInt8] {
        let count = image.frames.count
        let purpose = isAlpha ? AVIFBox.full("auxi", AVIFImage.alphaKind) : image.colorBox
        // Frames may refer to any other frame.
        let references = AVIFBox.full("ccst", AVIFBox.longs(0x7C00_0000))
        let entry = AVIFBox.box(
            "av01", AVIFBox.zeros(6), AVIFBox.words(1), AVIFBox.zeros(16),
            AVIFBox.words(image.size.width, image.size.height), AVIFBox.longs(0x48_0000, 0x48_0000, 0),
            AVIFBox.words(1), AVIFBox.zeros(32), AVIFBox.words(0x18, 0xFFFF), image.configurationBox, purpose,
            references)
        let keys = image.frames.indices.filter { image.frames[$0].isKey }
        return AVIFBox.box(
            "stbl", AVIFBox.full("stsd", AVIFBox.longs(1), entry),
            AVIFBox.full("stts", AVIFBox.longs(count), delays.flatMap { AVIFBox.longs(1, $0) }),
            AVIFBox.full("stsc", AVIFBox.longs(1, 1, count, 1)),
            AVIFBox.full("stsz", AVIFBox.longs(0, count), image.frames.flatMap { AVIFBox.longs($0.data.count) }),
            AVIFBox.full("stco", AVIFBox.longs(1, start)),
            AVIFBox.full("stss", AVIFBox.longs(keys.count), keys.flatMap { AVIFBox.longs($0 + 1) }))
    }
}
