import Coordination
import Memory

/// Everything that distinguishes one format from another: a row of the format table.
///
/// A class, so that reading one trait does not copy the others.
final class FormatTraits: Sendable {
    let mediaType: String
    let fileExtension: String
    let supportsAlpha: Bool
    /// Whether animations are written with all their frames.
    let supportsAnimation: Bool
    /// Whether other services also keep animation frames in this format.
    let isCommonAnimation: Bool
    let maximumSide: Int
    let reading: Reading
    let output: Output

    init(
        mediaType: String, fileExtension: String, supportsAlpha: Bool, supportsAnimation: Bool,
        isCommonAnimation: Bool = false, maximumSide: Int, reading: Reading,
        output: Output
    ) {
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.supportsAlpha = supportsAlpha
        self.supportsAnimation = supportsAnimation
        self.isCommonAnimation = isCommonAnimation
        self.maximumSide = maximumSide
        self.reading = reading
        self.output = output
    }

    /// The output format when the result keeps the source's format.
    enum Output: Sendable {
        case written(Writing)
        case replaced(opaque: ImageFormat, transparent: ImageFormat)
    }
}

extension FormatTraits.Reading {
    func pixelLoader(for plan: DecodePlan, _ header: ImageHeader) -> FormatTraits.PixelLoader? {
        if case .pixels(let load) = loader { return load }
        return plan.needsFrames(of: header) ? frames : nil
    }
}

extension FormatTraits {
    struct Reading: Sendable {
        let leadingBytes: LeadingBytes
        let header: @Sendable (RawSpan) throws(ImagingError) -> ImageHeader
        let loader: Loader
        /// A faster decoder for some files, which yields the same pixels as the loader.
        var quickLoader: QuickLoader?
        /// A decoder for animation frames after the first, if the loader does not support them.
        var frames: PixelLoader?
        /// Maps a page to the loader's page number.
        var storedPage: @Sendable (_ file: RawSpan, _ page: Int) throws(ImagingError) -> Int = { $1 }
        var reduction = Reduction.none
        /// Whether only confined worker processes decode this format, unless the operator allows otherwise.
        var needsConfinement = false
        /// The image that a worker process decodes before it is confined, so that libraries load what they need.
        ///
        /// Nil if writing that image takes long and the decoder works without it.
        var warmUp: WarmUp?
        var isVector = false
        var hasPageHeaders = false
        var hasCMYK = false
        /// Loads what the decoder needs before a process is confined.
        var prepare: @Sendable () -> Void = {}
        /// Whether the decoder fails on good images from now on.
        var isUnreliable: @Sendable () -> Bool = { false }
        /// Removes parts of a file that only cost the decoder time and memory.
        var trim: @Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> SharedBytes = { file, _, _ in
            file
        }
        /// Repairs for truncated or damaged files, and files too new for the loader.
        var damage = Damage()
        var planes: Planes?
        let memory: Memory
        let time: Time
    }

    enum WarmUp: Sendable {
        /// An image with this number of components, encoded for the purpose.
        case written(bands: Int)
        /// A stored file, for formats without a writer.
        case file([UInt8])
    }

    enum LeadingBytes: Sendable {
        /// Any of these alternatives; every part of an alternative must be at its offset.
        case parts([[Int: [UInt8]]])
        /// An `ftyp` box whose first known brand is one of these.
        case brands([StaticString])
        /// A function that recognizes a file; called after all other formats are ruled out.
        case markup(@Sendable (RawSpan) -> Bool)
    }

    enum Loader: Sendable {
        case vips(VipsLoader)
        /// A library that is called directly, or our own code.
        case pixels(PixelLoader)
    }

    typealias PixelLoader =
        @Sendable (_ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken) throws ->
        DecodedPixels

    /// Decodes a file to pixels, using memory from `room` if they need no more work; returns nil to leave the file to
    /// the loader.
    typealias QuickLoader =
        @Sendable (
            _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
            _ room: PlaneMemory.Allocator
        ) throws -> DecodedPixels?

    /// How a loader produces a smaller image with less work.
    enum Reduction: Sendable {
        /// No reduction: the image is decoded at full size, then reduced.
        case none
        /// A smaller inverse transform. Sides are rounded down.
        case transform
        /// A scaler after the decoder, for stills only. Sides are rounded half to even.
        ///
        /// Animation frames have offsets on their canvas, and would shift if each were scaled alone.
        case scaler
    }

    struct Damage: Sendable {
        var repair: (@Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> RepairedFile)?
        /// Checks whether the file lacks pixels, if the loader does not report that.
        var lacksPixels: (@Sendable (SharedBytes, ImageHeader, WorkToken) throws -> Bool)?
        /// Removes data that the loader would read but not use, if it takes much time.
        var withoutSurplus: (@Sendable (SharedBytes, WorkToken) throws -> SharedBytes)?
        /// Repairs a file after the loader failed; returns nil if it is beyond repair.
        var repairAfterFailure: (@Sendable (SharedBytes, ImageHeader, DecodePlan, WorkToken) throws -> RepairedFile?)?
    }

    struct Planes: Sendable {
        let mayHold: @Sendable (ImageHeader) -> Bool
        /// Decodes a file, or only checks whether it can.
        let decode:
            @Sendable (
                _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
                _ room: PlaneMemory.Allocator, _ jpeg: JPEGDecoder?
            ) throws -> PlanarReading
    }

    /// Memory that a decoder uses besides its rows and pixels.
    ///
    /// The factors are measured (`make bench-costs`).
    struct Memory: Sendable {
        /// Bytes per pixel of a frame, by header and by whether it is decoded at full size.
        let workingBytes: @Sendable (_ header: ImageHeader, _ isWhole: Bool) -> Int
        /// Whether all frames need this memory at the same time.
        var isForEachFrame = false
        /// Bytes for each pixel of another frame that the decoder keeps for later ones.
        var frameBytes: @Sendable (_ header: ImageHeader) -> Int = { _ in 0 }
    }

    /// Decoding time in nanoseconds; see ``TimeCost``.
    struct Time: Sendable {
        /// Per pixel of a decoded frame.
        let pixel: Double
        /// Per byte of the file.
        let byte: Double
        /// The minimum per pixel of a frame, however small the file.
        var leastPixel = 0.0
        /// Additional, per pixel of an animation frame, for compositing onto earlier frames.
        var animation = 0.0
        /// Whether alpha is coded separately and needs a second decode.
        var isAlphaApart = false
    }
}

extension FormatTraits {
    struct Writing: Sendable {
        let saver: VipsSaver
        let quality: QualityCurve?
        /// Whether a quality given with a format that has none limits the palette instead.
        var hasPaletteQuality = false
        let effort: Int
        /// Supported bits per component, the default first.
        var bitDepths = [8]
        /// Incremented when the encoder produces other bytes for the same pixels; part of the keys on disk.
        var version = 1
        /// Lowest quality at which chroma is not subsampled; nil if it always is.
        var fullChromaFrom: Int? = 90
        /// Whether a lower limit of pixels applies to results.
        var isSlow = false
        /// Whether encoding a still cannot be interrupted.
        var isUninterruptible = false
        /// Whether encoding an animation cannot be interrupted either.
        var isUninterruptibleAnimation = false
        var planes: PlaneEncoder?
        /// Maximum number of pixels for which chroma is computed from full-color pixels instead of resampled planes,
        /// which lose more visual quality at small sizes.
        var maximumSharpPixels = 0
        /// File size in percent of a JPEG photograph of equal visual quality, from a number of pixels upward; empty if
        /// unknown.
        var photographBytes: [(pixels: Int, hundredths: Int)] = []
        /// Inserts EXIF data into an encoded file that has none; nil if unsupported.
        var attribute: (@Sendable (_ file: SharedBytes, _ exif: [UInt8], _ frame: PixelSize) -> SharedBytes)?
        /// Joins an encoded file and its gain map; nil if unsupported.
        var joinGainMap: (@Sendable (_ file: SharedBytes, _ map: EncodedGainMap) -> SharedBytes)?
        /// Inserts the Display P3 profile into an encoded file; nil if the encoder writes it or the format has none.
        var addProfile: (@Sendable (_ file: SharedBytes, _ frame: PixelSize) -> SharedBytes)?
        /// Whether files can declare Display P3 colors.
        var holdsWideColors = true
        let memory: WritingMemory
        let time: WritingTime
    }

    /// Memory of rendering and encoding, in bytes.
    ///
    /// The factors are measured (`make bench-costs`).
    struct WritingMemory: Sendable {
        /// Per pixel.
        let pixel: Int
        /// Additional, per pixel, if chroma is not subsampled.
        var fullChroma = 0
        /// Additional, per pixel, if the image may have transparent parts.
        var alpha = 0
        /// Additional, at any size, if a palette is computed.
        var palette = 0
        /// Additional, for an animation: per pixel of every frame, per pixel of one frame, and once.
        var animation = (frame: 0, pixel: 0, once: 0)
        /// Additional bytes at any size.
        var least = 1 << 20
    }

    /// Encoding time in nanoseconds, per pixel unless the name says otherwise; see ``TimeCost``.
    struct WritingTime: Sendable {
        /// Per pixel of every image.
        let pixel: Double
        /// Additional, from quality 90 upward.
        var fine = 0.0
        /// Additional, if the image may have transparent parts.
        var alpha = 0.0
        /// Additional, for animation frames, which are compared with earlier ones.
        var animation = 0.0
        /// Additional, if a palette is computed.
        var palette = 0.0
        /// Additional, once per still.
        var once = 0.0
        /// Additional, once per still, if a palette is computed.
        var palettePerImage = 0.0

        /// Returns the total per pixel.
        func cost(isFine: Bool, hasAlpha: Bool, isAnimated: Bool, choosesPalette: Bool) -> Double {
            pixel + (isFine ? fine : 0) + (hasAlpha ? alpha : 0) + (isAnimated ? animation : 0)
                + (choosesPalette ? palette : 0)
        }

        /// Returns the total that does not depend on the size.
        func fixedCost(isAnimated: Bool, choosesPalette: Bool) -> Double {
            isAnimated ? 0 : once + (choosesPalette ? palettePerImage : 0)
        }
    }
}

/// A file that the decoder can read to its end.
struct RepairedFile {
    let bytes: SharedBytes
    /// Whether the wanted frames lack pixels; these are gray, or keep the frame before.
    let isIncomplete: Bool
}
