package struct ImageHeader: Hashable, Sendable {
    package let format: ImageFormat
    /// The size before the turn to upright; for an animation, its canvas.
    package let storedSize: PixelSize
    package let work: DecoderWork
    package let orientation: QuarterTurn
    /// 1 gray, 2 gray with alpha, 3 color, 4 color with alpha or CMYK; a palette counts as color.
    package let bands: Int
    /// Bits per component; 8 for palettes.
    package let bitDepth: Int
    package let frames: Int
    package let hasAlpha: Bool
    /// Whether the image is a progressive JPEG, or an interlaced PNG or GIF.
    package let isProgressive: Bool
    /// Whether chroma has at most a quarter of luma's samples; halves the memory for a progressive JPEG.
    package let isChromaSubsampled: Bool
    /// Bytes of the ICC profile as stored (compressed in PNG); 0 without one.
    package let profileByteCount: Int
    /// The natural size of a vector image, in thousandths of a CSS pixel; nil for raster images.
    package var vectorSize: PixelSize?
    /// The headers of all pages including the first; empty if all are like this one.
    package var pages: [ImageHeader] = []
    /// The embedded file that the other values describe; nil in other formats.
    package var preview: EmbeddedPreview?
    package var exif: EXIFTexts?
    package var rights: SourceRights?
    package var colors: SourceColors
    package var gainMap: GainMap?

    package init(
        format: ImageFormat, storedSize: PixelSize, work: DecoderWork = DecoderWork(), orientation: QuarterTurn = .none,
        bands: Int = 3, bitDepth: Int = 8, frames: Int = 1, hasAlpha: Bool = false, isProgressive: Bool = false,
        isChromaSubsampled: Bool = false, profileByteCount: Int = 0, exif: EXIFTexts? = nil
    ) {
        self.format = format
        self.storedSize = storedSize
        self.work = DecoderWork(area: max(work.area, storedSize.area), runs: work.runs, hiddenArea: work.hiddenArea)
        self.orientation = orientation
        self.bands = bands
        self.bitDepth = bitDepth
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.isProgressive = isProgressive
        self.isChromaSubsampled = isChromaSubsampled
        self.profileByteCount = profileByteCount
        self.exif = exif
        colors = SourceColors(bands < 3 ? .gray : .srgb)
        if isCMYK { colors.space = .cmyk }
    }

    /// Memory in bytes, including pages: a document may have thousands.
    package var byteCount: Int {
        let headerBytes =
            MemoryLayout<ImageHeader>.stride + (exif?.byteCount ?? 0) + (gainMap?.byteCount ?? 0)
            + (rights?.byteCount ?? 0)
        // The allocator rounds large blocks up, by at most a quarter.
        return pages.reduce(0) { $0 + $1.byteCount } / 4 * 5 + headerBytes
    }

    package func page(_ index: Int) -> ImageHeader { pages.indices ~= index ? pages[index] : self }

    package func decoded(by plan: DecodePlan) -> ImageHeader {
        let page = page(plan.page)
        guard let size = plan.drawnSize, page.vectorSize != nil else { return page }
        var drawn = ImageHeader(format: format, storedSize: size, bands: bands, hasAlpha: hasAlpha)
        drawn.vectorSize = vectorSize
        return drawn
    }

    var attribution: Attribution? { exif?.attribution }

    var isCMYK: Bool { bands == 4 && format.reading.hasCMYK && !(hasAlpha && format.supportsAlpha) }

    package var size: PixelSize { orientation.turned(storedSize) }

    package var shape: FrameShape { FrameShape(size: size, hasAlpha: hasAlpha) }
}

/// The work of a decoder, for estimates of its cost.
package struct DecoderWork: Hashable, Sendable {
    /// The area of one decoded frame: larger than visible if an AVIF or HEIC image is cropped or has tiles.
    package let area: Int
    /// Decoder starts for items and hidden frames; 0 in formats whose decoder runs once.
    package let runs: Int
    /// Pixels of frames that are decoded but not shown: other layers and reference frames.
    package let hiddenArea: Int

    package init(area: Int = 0, runs: Int = 0, hiddenArea: Int = 0) {
        self.area = area
        self.runs = runs
        self.hiddenArea = hiddenArea
    }
}

extension ImageHeader {
    private static let longestSide = Int(UInt32.max)
    /// Ten million CSS pixels in thousandths.
    private static let longestVectorSide = 10_000_000_000
    private static let maximumFrames = Int(Int32.max)
    /// The maximum number of items, including repeats, about a second of work; a hundred tiles are usual.
    package static let maximumDecoderRuns = 10_000

    /// Whether the values are in range; check it for headers from caches and worker processes before use.
    package var isPlausible: Bool {
        storedSize.isPlausible(upTo: Self.longestSide) && 1...4 ~= bands && 1...64 ~= bitDepth
            && 0...Self.maximumDecoderRuns ~= work.runs && work.hiddenArea >= 0
            && 1...Self.maximumFrames ~= frames && 0...Int(UInt32.max) ~= profileByteCount
            && vectorSize?.isPlausible(upTo: Self.longestVectorSide) ?? !format.isVector
            && (pages.isEmpty || pages.count == frames)
            && pages.allSatisfy { $0.format == format && $0.pages.isEmpty && $0.isPlausible }
            && preview?.isPlausible ?? !format.hasPreview && exif?.isPlausible ?? true && gainMap?.isPlausible ?? true
    }
}

extension PixelSize {
    package func isPlausible(upTo maximumLength: Int = maximumSide) -> Bool {
        1...maximumLength ~= width && 1...maximumLength ~= height
    }
}

extension EXIFTexts {
    fileprivate var isPlausible: Bool {
        [make, model, dateTime].allSatisfy { $0.count <= Self.maximumLength }
            && [attribution?.artist, attribution?.copyright].allSatisfy { $0?.count ?? 0 <= Attribution.maximumLength }
    }
}

/// The largest embedded preview of a RAW photograph.
package struct EmbeddedPreview: Hashable, Sendable {
    /// The preview's bytes in the file.
    package var range: Range<Int>
    /// The size of the sensor's image; nil if unknown.
    package let sensor: PixelSize?

    private static let longestSide = 1 << 24
    /// Larger than any file.
    private static let longestFile = 1 << 48

    /// - Parameter sensor: The size of the sensor's image; ignored if implausible.
    package init(_ range: Range<Int>, sensor: PixelSize?) {
        self.range = range
        self.sensor = sensor.flatMap { $0.isPlausible(upTo: Self.longestSide) ? $0 : nil }
    }

    fileprivate var isPlausible: Bool { range.lowerBound >= 0 && range.upperBound <= Self.longestFile }
}

package struct EXIFTexts: Hashable, Sendable {
    /// The make; texts have no trailing null bytes, and are empty if absent.
    package let make: [UInt8]
    package let model: [UInt8]
    package let dateTime: [UInt8]
    package let attribution: Attribution?

    /// Maximum bytes of a text; longer ones outside ``attribution`` are dropped.
    package static let maximumLength = 255

    package init?(make: [UInt8] = [], model: [UInt8] = [], dateTime: [UInt8] = [], attribution: Attribution? = nil) {
        guard !make.isEmpty || !model.isEmpty || !dateTime.isEmpty || attribution != nil else { return nil }
        self.make = make
        self.model = model
        self.dateTime = dateTime
        self.attribution = attribution
    }

    var byteCount: Int { [make, model, dateTime].reduce(attribution?.byteCount ?? 0) { $0 + $1.count + 48 } }
}

package struct Attribution: Hashable, Sendable {
    /// The tag `Artist` without its null byte; empty if absent.
    package let artist: [UInt8]
    /// The tag `Copyright` without its null byte; empty if absent.
    package let copyright: [UInt8]

    /// Maximum bytes of each text; longer ones are dropped.
    package static let maximumLength = 4_096

    package init?(artist: [UInt8], copyright: [UInt8]) {
        guard !artist.isEmpty || !copyright.isEmpty else { return nil }
        self.artist = artist
        self.copyright = copyright
    }

    var byteCount: Int { (artist.count + copyright.count) / 8 * 9 + 96 }
}
