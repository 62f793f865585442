/// The facts in the header of an image file, read before any pixel is decoded.
package struct ImageHeader: Hashable, Sendable {
    /// The format by the leading bytes.
    package let format: ImageFormat
    /// Size as stored, before the image is turned upright; for animations the size of the canvas.
    package let storedSize: PixelSize
    /// Pixels that a decoder processes for one frame: more than are shown if an AVIF or HEIC image is cropped or
    /// composed of others.
    package let decodedArea: Int
    /// Items that a decoder is started for, one after the other, and frames that are not shown; 0 in formats whose
    /// decoder runs once.
    package let decoderRuns: Int
    /// Pixels of frames that are decoded besides, and not shown: other layers, and frames that others refer to.
    package let hiddenArea: Int
    /// How the stored image is to be turned: 1…8 as in EXIF, 1 is upright.
    package let orientation: QuarterTurn
    /// Color and alpha components of a pixel: 1 gray, 2 gray with alpha, 3 color, 4 color with alpha or CMYK.
    ///
    /// The entries of a palette count as colors.
    package let bands: Int
    /// Bits of one component; 8 for palettes.
    package let bitDepth: Int
    /// Frames of an animation or pages of a document, 1 for stills.
    package let frames: Int
    /// Whether the image may have transparent parts.
    package let hasAlpha: Bool
    /// Whether the image is stored in passes: progressive JPEG, interlaced PNG or GIF.
    package let isProgressive: Bool
    /// Whether chroma has a quarter of luma's samples or fewer, which halves the memory for the coefficients of a
    /// progressive JPEG.
    package let isChromaSubsampled: Bool
    /// Bytes of the ICC profile as stored (compressed in PNG), 0 without one.
    package let profileByteCount: Int
    /// The natural size of an image of shapes, in thousandths of a CSS pixel; nil for images of pixels.
    package let drawing: PixelSize?
    /// The headers of all pages, the first included; empty if all pages are like this one.
    package let pages: [ImageHeader]
    /// The texts in Exif; nil if there are none.
    package let exif: EXIFTexts?
    /// The meaning of the colors.
    package var colors: SourceColors
    /// The gain map, if the file has one that can be used.
    package var gainMap: GainMap?

    /// A header of these values.
    package init(
        format: ImageFormat, storedSize: PixelSize, decodedArea: Int = 0, decoderRuns: Int = 0, hiddenArea: Int = 0,
        orientation: QuarterTurn = .none, bands: Int = 3, bitDepth: Int = 8, frames: Int = 1, hasAlpha: Bool = false,
        isProgressive: Bool = false,
        isChromaSubsampled: Bool = false, profileByteCount: Int = 0, drawing: PixelSize? = nil,
        pages: [ImageHeader] = [], exif: EXIFTexts? = nil
    ) {
        self.format = format
        self.storedSize = storedSize
        self.decodedArea = max(decodedArea, storedSize.area)
        self.decoderRuns = decoderRuns
        self.hiddenArea = hiddenArea
        self.orientation = orientation
        self.bands = bands
        self.bitDepth = bitDepth
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.isProgressive = isProgressive
        self.isChromaSubsampled = isChromaSubsampled
        self.profileByteCount = profileByteCount
        self.drawing = drawing
        self.pages = pages
        self.exif = exif
        colors = SourceColors(bands < 3 ? .gray : .srgb)
        if isCMYK { colors.space = .cmyk }
    }

    /// Bytes of memory that it takes, those of its pages included: a document may have thousands.
    package var byteCount: Int {
        let own = MemoryLayout<ImageHeader>.stride + (exif?.byteCount ?? 0) + (gainMap?.byteCount ?? 0)
        // The allocator rounds a large block up, by a quarter at most.
        return pages.reduce(0) { $0 + $1.byteCount } / 4 * 5 + own
    }

    /// The header of a page; this header for all pages that are like the first.
    package func page(_ index: Int) -> ImageHeader { pages.indices ~= index ? pages[index] : self }

    /// The header of the image that a plan decodes: of its page, and of the drawing in the size that the plan needs.
    package func decoded(by plan: DecodePlan) -> ImageHeader {
        let page = page(plan.page)
        guard let size = plan.drawnSize, page.drawing != nil else { return page }
        return ImageHeader(format: format, storedSize: size, bands: bands, hasAlpha: hasAlpha, drawing: drawing)
    }

    /// This header with colors that the file states, if these are colors of such pixels; of a gray image, with their
    /// curve.
    func with(_ stated: SourceColors?) -> ImageHeader {
        if bands < 3, let encoding = stated?.encoding, encoding.grayProfile != nil {
            var header = self
            header.colors.encoding = encoding
            return header
        }
        guard let stated, (stated.space == .gray) == (bands < 3), (stated.space == .cmyk) == (colors.space == .cmyk)
        else {
            return self
        }
        var header = self
        header.colors = stated
        return header
    }

    /// Who made the image and who owns the rights; nil if the file does not say.
    var attribution: Attribution? { exif?.attribution }

    /// Whether the four components of a pixel are cyan, magenta, yellow and black.
    var isCMYK: Bool { bands == 4 && format.reading.hasCMYK && !(hasAlpha && format.supportsAlpha) }

    /// Size after the image is turned upright.
    package var size: PixelSize {
        orientation.turned(storedSize)
    }

    /// The shape of a frame before the first step of a render.
    package var shape: FrameShape { FrameShape(size: size, hasAlpha: hasAlpha) }
}

extension ImageHeader {
    private static let longestSide = Int(UInt32.max)
    /// Ten million CSS pixels, in thousandths.
    private static let longestDrawing = 10_000_000_000
    private static let mostFrames = Int(Int32.max)
    /// Most items that one image is put together from, repeats included: a second of time.
    ///
    /// A hundred tiles are usual, thousands are rare.
    static let mostDecoderRuns = 10_000

    /// Whether the header of a file could say all this.
    ///
    /// A header that was not read from a file here is asked so before it is used, because prices, plans and answers
    /// count on it.
    package var isPossible: Bool {
        storedSize.isPossible(upTo: Self.longestSide) && 1...4 ~= bands && 1...64 ~= bitDepth
            && 0...Self.mostDecoderRuns ~= decoderRuns && hiddenArea >= 0
            && 1...Self.mostFrames ~= frames && 0...Int(UInt32.max) ~= profileByteCount
            && drawing?.isPossible(upTo: Self.longestDrawing) ?? !format.holdsShapes
            && (pages.isEmpty || pages.count == frames)
            && pages.allSatisfy { $0.format == format && $0.pages.isEmpty && $0.isPossible }
            && exif?.isPossible ?? true && gainMap?.isPossible ?? true
    }
}

extension PixelSize {
    /// Whether no side is empty, and none longer than `longest`.
    package func isPossible(upTo longest: Int = maximumSide) -> Bool { 1...longest ~= width && 1...longest ~= height }
}

extension EXIFTexts {
    /// Whether no text is longer than those that are read from files.
    fileprivate var isPossible: Bool {
        [make, model, dateTime].allSatisfy { $0.count <= Self.longest }
            && [attribution?.artist, attribution?.copyright].allSatisfy { $0?.count ?? 0 <= Attribution.longest }
    }
}
