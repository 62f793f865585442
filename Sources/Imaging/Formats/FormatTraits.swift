import Coordination
import Memory

/// Everything in which a format differs from the others: a row of the table.
///
/// A class, so that reading one trait does not copy the others.
final class FormatTraits: Sendable {
    /// The media type, in lower case.
    let mediaType: String
    /// The usual file name extension, without the dot.
    let fileExtension: String
    /// Whether the format has alpha.
    let supportsAlpha: Bool
    /// Whether animations are written with all their frames.
    let supportsAnimation: Bool
    /// Whether other services keep frames in this format, too.
    let isUsualAnimation: Bool
    /// Longest side, in pixels.
    let maximumSide: Int
    /// The way of reading files.
    let reading: Reading
    /// How files are written, or the formats that are written instead.
    let output: Output

    /// A row of these values.
    init(
        mediaType: String, fileExtension: String, supportsAlpha: Bool, supportsAnimation: Bool,
        isUsualAnimation: Bool = false, maximumSide: Int, reading: Reading,
        output: Output
    ) {
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.supportsAlpha = supportsAlpha
        self.supportsAnimation = supportsAnimation
        self.isUsualAnimation = isUsualAnimation
        self.maximumSide = maximumSide
        self.reading = reading
        self.output = output
    }

    /// The format of a result that is to be in the source's own format.
    enum Output: Sendable {
        /// The source's own format.
        case written(Writing)
        /// Other formats, for sources without transparency and with it.
        case replaced(opaque: ImageFormat, transparent: ImageFormat)
    }
}

extension FormatTraits.Reading {
    /// The function that decodes such a file to pixels; nil if libvips does.
    func pixelLoader(for plan: DecodePlan, _ header: ImageHeader) -> FormatTraits.PixelLoader? {
        if case .pixels(let load) = loader { return load }
        return plan.needsFrames(of: header) ? frames : nil
    }
}

extension FormatTraits {
    /// How files of a format are recognized and decoded.
    struct Reading: Sendable {
        /// The leading bytes of a file.
        let leadingBytes: LeadingBytes
        /// Reads the header.
        let header: @Sendable (RawSpan) throws(ImagingError) -> ImageHeader
        /// The library that decodes.
        let loader: Loader
        /// Decodes files faster than the loader, if it knows them, to the same pixels.
        var quickLoader: QuickLoader?
        /// Decodes all frames but the first alone, if the loader knows no others.
        var frames: PixelLoader?
        /// The number by which the loader knows a page.
        var storedPage: @Sendable (_ file: RawSpan, _ page: Int) -> Int = { $1 }
        /// How the loader reduces an image.
        var reduction = Reduction.none
        /// Whether files are decoded only by confined worker processes, unless the operator decides otherwise.
        var needsConfinement = false
        /// The image that a worker process decodes before it is confined, so that libraries load what they need.
        ///
        /// Nil if writing that image takes long, and the decoder works without this.
        var warmUp: WarmUp?
        /// Whether images are made of shapes, which are drawn in the size that is needed.
        var holdsShapes = false
        /// Whether each page has a header of its own.
        var holdsPages = false
        /// Whether four components are CMYK, not colors with alpha.
        var hasCMYK = false
        /// Removes parts of a file that only cost the decoder time and memory.
        var trim: @Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> SharedBytes = { file, _, _ in
            file
        }
        /// How files are handled that are truncated, damaged, or too new for the loader.
        var damage = Damage()
        /// How the planar lane decodes files; nil if it does not.
        var planes: Planes?
        /// Memory of a decode.
        let memory: Memory
        /// Time of a decode.
        let time: Time
    }

    /// A small image that is decoded to learn whether that works.
    enum WarmUp: Sendable {
        /// An image of this many components, written for the purpose.
        case written(bands: Int)
        /// A file of a format that is not written.
        case file([UInt8])
    }

    /// The leading bytes of the files of a format.
    enum LeadingBytes: Sendable {
        /// Any of these alternatives; all parts of an alternative must be at their offsets.
        case parts([[Int: [UInt8]]])
        /// An `ftyp` box whose first known brand is one of these.
        case brands([StaticString])
        /// A function that recognizes a file; asked after all other formats.
        case markup(@Sendable (RawSpan) -> Bool)
    }

    /// The library that decodes a format.
    enum Loader: Sendable {
        /// libvips, by this loader.
        case vips(VipsLoader)
        /// A library that is called directly, or code of our own.
        case pixels(PixelLoader)
    }

    /// Decodes a file to pixels.
    typealias PixelLoader =
        @Sendable (_ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken) throws ->
        LoadedPixels

    /// Decodes a file to pixels, in memory from `room` if they need no more work; nil leaves the file to the loader.
    typealias QuickLoader =
        @Sendable (
            _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
            _ room: PlaneMemory.Maker
        ) throws -> LoadedPixels?

    /// How a loader makes a smaller image for less work.
    enum Reduction: Sendable {
        /// Not at all: the image is decoded in full size, then reduced.
        case none
        /// The inverse transform makes fewer samples. Sides are rounded down.
        case transform
        /// A scaler after the decoder, for stills only. Sides are rounded, half to even.
        ///
        /// The frames of an animation have offsets on their canvas, and would move if each were scaled alone.
        case scaler
    }

    /// How files that the loader would refuse are repaired, and truncated ones judged.
    struct Damage: Sendable {
        /// Repairs a file that the loader would refuse before it is decoded; a file that needs no repair is not copied.
        var repair: (@Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> RepairedFile)?
        /// Finds out whether the file lacks pixels, if the loader does not report that.
        var lacksPixels: (@Sendable (SharedBytes, ImageHeader, WorkToken) throws -> Bool)?
        /// Repairs a file on which the loader failed; nil if the file cannot be repaired.
        var repairAfterFailure: (@Sendable (SharedBytes, ImageHeader, DecodePlan, WorkToken) throws -> RepairedFile?)?
    }

    /// How the planar lane decodes a format.
    struct Planes: Sendable {
        /// Whether files with this header may hold planes.
        let mayHold: @Sendable (ImageHeader) -> Bool
        /// Decodes a file, or judges it.
        let decode:
            @Sendable (
                _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
                _ room: PlaneMemory.Maker, _ jpeg: JPEGDecoder?
            ) throws -> PlanarReading
    }

    /// Memory that a decoder holds besides its rows and pixels.
    ///
    /// The factors were measured (`make bench-prices`).
    struct Memory: Sendable {
        /// Bytes for each pixel of a frame, by its header and by whether it is decoded in full size.
        let workingBytes: @Sendable (_ header: ImageHeader, _ isWhole: Bool) -> Int
        /// Whether this memory is held for all frames at the same time.
        var isForEachFrame = false
        /// Bytes for each pixel of another frame that the decoder keeps for later ones.
        var frameBytes: @Sendable (_ header: ImageHeader) -> Int = { _ in 0 }
    }

    /// Time of a decode in nanoseconds, see ``TimePrice``.
    struct Time: Sendable {
        /// For each pixel of a frame that is processed.
        let pixel: Double
        /// For each byte of the file.
        let byte: Double
        /// For each pixel of a frame at least, however few the bytes.
        var leastPixel = 0.0
        /// For each pixel of a frame of an animation in addition, which is laid on earlier frames.
        var animation = 0.0
        /// Whether alpha is coded separately, and needs a decode of its own.
        var isAlphaApart = false
    }
}

extension FormatTraits {
    /// How files of a format are written.
    struct Writing: Sendable {
        /// libvips' saver, for pixels.
        let saver: VipsSaver
        /// The scale of the encoder's quality; nil if the format has no quality.
        let quality: QualityCurve?
        /// Whether a format without a quality makes an image of few colors, by a quality that is given with the
        /// format.
        var hasPaletteQuality = false
        /// The encoder's effort, in its own scale.
        let effort: Int
        /// The bits of a component that files may have, the usual ones first.
        var bitDepths = [8]
        /// Counted up when the encoder makes other bytes of the same pixels: it is part of the keys on disk.
        var version = 1
        /// Lowest quality at which chroma is not subsampled; nil if it always is.
        var fullChromaFrom: Int? = 90
        /// Whether results have a lower limit of pixels.
        var isSlow = false
        /// Whether the encoder of stills cannot be stopped.
        var isInOneStep = false
        /// Whether that of animations cannot, either.
        var animatesInOneStep = false
        /// How planes are written; nil if only pixels can be written.
        var planes: PlaneEncoder?
        /// Up to so many pixels, chroma is made of pixels of full color and not of resampled planes, which lose more
        /// of the look there.
        var mostSharpPixels = 0
        /// Bytes in hundredths of those of a JPEG photograph of the same look, from so many pixels on; empty if that
        /// cannot be said.
        var photographBytes: [(pixels: Int, hundredths: Int)] = []
        /// Puts EXIF data into a finished file without any; nil if files get none.
        var attribute: (@Sendable (_ file: SharedBytes, _ exif: [UInt8], _ frame: PixelSize) -> SharedBytes)?
        /// Joins a finished file and its gain map; nil if files get none.
        var joinGainMap: (@Sendable (_ file: SharedBytes, _ map: EncodedGainMap) -> SharedBytes)?
        /// Puts the profile of Display P3 into a finished file; nil if the encoder or no one writes it.
        var addProfile: (@Sendable (_ file: SharedBytes, _ frame: PixelSize) -> SharedBytes)?
        /// Whether files can say that their colors are Display P3's.
        var holdsWideColors = true
        /// Memory of a render.
        let memory: WritingMemory
        /// Time of a render.
        let time: WritingTime
    }

    /// Bytes that a render and its encoder take.
    ///
    /// The factors were measured (`make bench-prices`).
    struct WritingMemory: Sendable {
        /// Bytes for each pixel.
        let pixel: Int
        /// In addition for each pixel, if chroma is not subsampled.
        var fullChroma = 0
        /// In addition for each pixel, if the image may have transparent parts.
        var alpha = 0
        /// In addition at any size, if the colors of a palette are chosen.
        var palette = 0
        /// In addition for an animation: for each pixel of every frame, for each pixel of one, and at any size.
        var animation = (frame: 0, pixel: 0, once: 0)
        /// In addition, at any size.
        var least = 1 << 20
    }

    /// Time of an encoder in nanoseconds, for each pixel unless its name says otherwise, see ``TimePrice``.
    struct WritingTime: Sendable {
        /// Nanoseconds for each pixel of every image.
        let pixel: Double
        /// In addition, from quality 90 on.
        var fine = 0.0
        /// In addition, if the image may have transparent parts.
        var alpha = 0.0
        /// In addition, for frames of an animation, which are compared with earlier ones.
        var animation = 0.0
        /// In addition, if the colors of a palette are chosen.
        var palette = 0.0
        /// In addition for a still of any size.
        var once = 0.0
        /// In addition for a still of any size, if the colors of a palette are chosen.
        var paletteOnce = 0.0

        /// The sum for one pixel.
        func price(isFine: Bool, hasAlpha: Bool, isAnimated: Bool, choosesPalette: Bool) -> Double {
            pixel + (isFine ? fine : 0) + (hasAlpha ? alpha : 0) + (isAnimated ? animation : 0)
                + (choosesPalette ? palette : 0)
        }

        /// The sum for an image of any size.
        func fixedPrice(isAnimated: Bool, choosesPalette: Bool) -> Double {
            isAnimated ? 0 : once + (choosesPalette ? paletteOnce : 0)
        }
    }
}
