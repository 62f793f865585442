import Coordination
import Memory
import Recipes

/// The decoder and the encoder of a format: a row of the table of codecs.
///
/// A class, so that reading one member does not copy the others.
final class FormatCodec: Sendable {
    let decoding: Decoding
    /// Nil for a format that is only read.
    let encoding: Encoding?

    init(decoding: Decoding, encoding: Encoding? = nil) {
        (self.decoding, self.encoding) = (decoding, encoding)
    }
}

extension FormatCodec.Decoding {
    func pixelLoader(for plan: DecodePlan, _ header: ImageHeader) -> FormatCodec.PixelLoader? {
        if case .pixels(let load) = loader { return load }
        return plan.needsFrames(of: header) ? frames : nil
    }
}

extension FormatCodec {
    struct Decoding: Sendable {
        let leadingBytes: LeadingBytes
        let header: @Sendable (RawSpan) throws(ImagingError) -> ImageHeader
        let loader: Loader
        /// A faster decoder for some files, which yields the same pixels as the loader.
        var quickLoader: QuickLoader?
        /// A decoder for animation frames after the first, if the loader does not support them.
        var frames: PixelLoader?
        /// Maps a page to the loader's page number.
        var storedPage: @Sendable (_ file: RawSpan, _ page: Int) throws(ImagingError) -> Int = { $1 }
        /// The image that a worker process decodes before it is confined, so that libraries load what they need.
        ///
        /// Nil if writing that image takes long and the decoder works without it.
        var warmUp: WarmUp?
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
        /// Decodes a file to planes, or only checks whether it can.
        var planes: PlaneLoader?
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

    typealias PlaneLoader =
        @Sendable (
            _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
            _ room: PlaneMemory.Allocator, _ jpeg: JPEGDecoder?
        ) throws -> PlanarReading

    struct Damage: Sendable {
        var repair: (@Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> RepairedFile)?
        /// Checks whether the file lacks pixels, if the loader does not report that.
        var lacksPixels: (@Sendable (SharedBytes, ImageHeader, WorkToken) throws -> Bool)?
        /// Removes data that the loader would read but not use, if it takes much time.
        var withoutSurplus: (@Sendable (SharedBytes, WorkToken) throws -> SharedBytes)?
        /// Repairs a file after the loader failed; returns nil if it is beyond repair.
        var repairAfterFailure: (@Sendable (SharedBytes, ImageHeader, DecodePlan, WorkToken) throws -> RepairedFile?)?
    }

    struct Encoding: Sendable {
        let saver: VipsSaver
        var planes: PlaneEncoder?
        /// Inserts EXIF data into an encoded file that has none; nil if unsupported.
        var attribute: (@Sendable (_ file: SharedBytes, _ exif: [UInt8], _ frame: PixelSize) -> SharedBytes)?
        /// Joins an encoded file and its gain map; nil if unsupported.
        var joinGainMap: (@Sendable (_ file: SharedBytes, _ map: EncodedGainMap) -> SharedBytes)?
        /// Inserts the Display P3 profile into an encoded file; nil if the encoder writes it or the format has none.
        var addProfile: (@Sendable (_ file: SharedBytes, _ frame: PixelSize) -> SharedBytes)?
    }
}

/// A file that the decoder can read to its end.
struct RepairedFile {
    let bytes: SharedBytes
    /// Whether the wanted frames lack pixels; these are gray, or keep the frame before.
    let isIncomplete: Bool
}

/// A gain map as a JPEG file, not yet joined to its image.
struct EncodedGainMap {
    let file: SharedBytes
    let metadata: GainMapMetadata
}

/// Encodes the gain map of the result in this file; returns nil if it has none.
typealias GainMapMaker = (_ file: SharedBytes) throws -> EncodedGainMap?
