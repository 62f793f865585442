import Coordination
import Memory

/// All that sets one format apart from the others: a row of the table.
///
/// A class, so that to ask for one trait copies none of the others.
final class FormatTraits: Sendable {
    /// The media type, in lower case.
    let mediaType: String
    /// The usual file name extension, without the dot.
    let fileExtension: String
    /// Whether an image can have transparent parts.
    let supportsAlpha: Bool
    /// Whether there are animations.
    let supportsAnimation: Bool
    /// Longest side, in pixels.
    let maximumSide: Int
    /// How files are read.
    let reading: Reading
    /// How files are written, or what is written instead.
    let output: Output

    /// A row of these values.
    init(
        mediaType: String, fileExtension: String, supportsAlpha: Bool, supportsAnimation: Bool, maximumSide: Int,
        reading: Reading, output: Output
    ) {
        self.mediaType = mediaType
        self.fileExtension = fileExtension
        self.supportsAlpha = supportsAlpha
        self.supportsAnimation = supportsAnimation
        self.maximumSide = maximumSide
        self.reading = reading
        self.output = output
    }

    /// What answers are made in that should have the source's format.
    enum Output: Sendable {
        /// The format itself.
        case written(Writing)
        /// Other formats, for sources without transparency and with it.
        case replaced(opaque: ImageFormat, transparent: ImageFormat)
    }
}

extension FormatTraits {
    /// How files of a format are recognised and decoded.
    struct Reading: Sendable {
        /// What the files begin with.
        let leadingBytes: LeadingBytes
        /// The walk of the header.
        let header: @Sendable (RawSpan) throws(ImagingError) -> ImageHeader
        /// The library that decodes.
        let loader: Loader
        /// What the loader does of a level.
        var reduction = Reduction.none
        /// Whether the decoder is let at anybody's files only behind a fence, unless the operator says otherwise.
        var needsConfinement = false
        /// Components of the image that makes the libraries look up what they keep, before a worker process is confined.
        ///
        /// Nil if writing that image takes long, and the decoder finds what it needs behind the fence as well.
        var warmUpBands: Int?
        /// Whether four components are inks and not colours with alpha.
        var hasInks = false
        /// Leaves away what only costs the decoder time and memory.
        var trim: @Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> SharedBytes = { file, _, _ in
            file
        }
        /// How damage is met.
        var damage = Damage()
        /// How the planar lane decodes files; nil if it does not.
        var planes: Planes?
        /// What a decode takes in memory.
        let memory: Memory
        /// What a decode takes in time.
        let time: Time
    }

    /// What the files of a format begin with.
    enum LeadingBytes: Sendable {
        /// One of these, each of which is all of its parts at their offsets.
        case parts([[Int: [UInt8]]])
        /// A box of brands, the first known one of which is one of these.
        case brands([StaticString])
    }

    /// The library that decodes a format.
    enum Loader: Sendable, Hashable {
        /// libvips, by the loader of this class.
        case vips(String)
        /// libheif, asked directly.
        case heif
    }

    /// What a loader does of a level, which makes a smaller image for less work.
    enum Reduction: Sendable {
        /// Nothing: the image is decoded whole, then reduced.
        case none
        /// The transform makes fewer samples: rows are shorter and there is less to compute. What is left of a side is dropped.
        case transform
        /// A scaler behind the decoder, for stills. Sides are rounded, half to even.
        ///
        /// Frames of an animation lie anywhere on their canvas and would move when each is scaled alone.
        case scaler
    }

    /// How a format's loader is spared files without an end, and what they lack is found out.
    struct Damage: Sendable {
        /// Gives the file an end before it is decoded, if it has none.
        var end: (@Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> EndedFile)?
        /// Finds out whether the file lacks pixels, which the loader does not say.
        var lacksPixels: (@Sendable (SharedBytes, ImageHeader, WorkToken) throws -> Bool)?
        /// Gives a file an end that the loader has failed on; nil if that was not its fault.
        var endAfterFailure: (@Sendable (SharedBytes, ImageHeader, DecodePlan, WorkToken) throws -> EndedFile?)?
    }

    /// How the planar lane decodes a format.
    struct Planes: Sendable {
        /// Whether files with this header may hold planes.
        let mayHold: @Sendable (ImageHeader) -> Bool
        /// Decodes a file, or judges it.
        let decode:
            @Sendable (
                _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
                _ room: PlaneMemory.Maker
            ) throws -> PlanarReading
    }

    /// What a decoder holds besides the rows and the pixels that it hands over.
    ///
    /// The factors were measured (`make bench-prices`).
    struct Memory: Sendable {
        /// Bytes for each pixel of a frame, by its header and by whether it is decoded whole.
        let workingBytes: @Sendable (_ header: ImageHeader, _ isWhole: Bool) -> Int
        /// Whether that is held for each of the frames at the same time.
        var isForEachFrame = false
    }

    /// What a decode costs in nanoseconds, see ``TimePrice``.
    struct Time: Sendable {
        /// For each pixel of a frame that it goes through.
        let pixel: Double
        /// For each byte of the file.
        let byte: Double
        /// Whether alpha is coded apart from the colours, and decoded once more.
        var isAlphaApart = false
    }
}

extension FormatTraits {
    /// How files of a format are written.
    struct Writing: Sendable {
        /// Quality if the caller names none; nil if there is no choice of it.
        let quality: Int?
        /// How hard the encoder tries, in its own scale.
        let effort: Int
        /// Least quality from which chroma is kept in full; nil if it never is.
        var fullChromaFrom: Int? = 90
        /// Whether results have a bound of their own.
        var isSlow = false
        /// Whether a still is written in one step that cannot be stopped.
        var isInOneStep = false
        /// How planes are written; nil if only pixels are.
        var planes: PlanesWritten?
        /// What a render takes in memory.
        let memory: WritingMemory
        /// What a render takes in time.
        let time: WritingTime
    }

    /// What planes have to be like to be written.
    struct PlanesWritten: Sendable {
        /// What their numbers mean.
        let range: PlaneRange
        /// Whether chroma is written of grey images, too.
        let needsChroma: Bool
    }

    /// Bytes that a render and its encoder take.
    ///
    /// The factors were measured (`make bench-prices`).
    struct WritingMemory: Sendable {
        /// For each pixel.
        let pixel: Int
        /// More than that for each pixel if chroma is kept in full.
        var fullChroma = 0
        /// Whatever the size.
        var least = 1 << 20
    }

    /// What an encoder costs in nanoseconds for each pixel, see ``TimePrice``.
    struct WritingTime: Sendable {
        /// Of every image.
        let pixel: Double
        /// More than that if chroma is kept in full.
        var fullChroma = 0.0
        /// More than that if parts may be transparent.
        var alpha = 0.0
        /// More than that if frames are compared with those before them.
        var animation = 0.0

        /// What all of it is for one pixel.
        func price(isFine: Bool, hasAlpha: Bool, isAnimated: Bool) -> Double {
            pixel + (isFine ? fullChroma : 0) + (hasAlpha ? alpha : 0) + (isAnimated ? animation : 0)
        }
    }
}
