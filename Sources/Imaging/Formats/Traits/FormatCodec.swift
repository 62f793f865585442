import Coordination
import Memory
import Recipes

/// The decoder and the encoder of a format.
///
/// A class, so that reading one member does not copy the others.
final class FormatCodec: Sendable {
    let decoding: Decoding
    let encoding: Encoding?

    init(decoding: Decoding, encoding: Encoding? = nil) {
        self.decoding = decoding
        self.encoding = encoding
    }
}

extension FormatCodec.Decoding {
    func pixelLoader(for plan: DecodePlan, header: ImageHeader) -> FormatCodec.PixelLoader? {
        if case .pixels(let load) = loader { return load }
        return plan.needsFrames(of: header) ? frames : nil
    }
}

extension FormatCodec {
    struct Decoding: Sendable {
        let leadingBytes: LeadingBytes
        let header: @Sendable (RawSpan) throws(ImagingError) -> ImageHeader
        let loader: Loader
        var quickLoader: DirectLoader?
        var frames: PixelLoader?
        var storedPage: @Sendable (_ file: RawSpan, _ page: Int) throws(ImagingError) -> Int = { $1 }
        /// A small image that is decoded before a worker process is confined; nil if no library loads data.
        var warmUp: WarmUp?
        /// Prepares libraries before a worker process is confined.
        var prepare: @Sendable () -> Void = {}
        /// Whether the decoder now fails on valid images, so that the worker process must be replaced.
        var isUnreliable: @Sendable () -> Bool = { false }
        /// Removes parts of a file that only cost time and memory.
        var trim: @Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> SharedBytes = { file, _, _ in
            file
        }
        var damage = Damage()
        /// Decodes to planes, or checks whether it can.
        var planes: PlaneLoader?
        /// Finds metadata; ignores damage.
        var metadata: @Sendable (RawSpan) -> EmbeddedMetadata = { _ in EmbeddedMetadata() }
        /// Used by ``ImageHeader/outline(_:)`` if `header` or `metadata` need the whole file.
        var outline: Outline?
    }

    typealias Outline = @Sendable (RawSpan) throws(ImagingError) -> (header: ImageHeader, metadata: EmbeddedMetadata)?

    enum WarmUp: Sendable {
        case written(bands: Int)
        case file([UInt8])
    }

    enum LeadingBytes: Sendable {
        /// Alternatives of bytes at offsets; all bytes of one alternative must match.
        case signatures([[Int: [UInt8]]])
        case brands([StaticString])
        case markup(@Sendable (RawSpan) -> Bool)
        /// A check of the content; comes first, because other formats begin in the same way.
        case contents(@Sendable (RawSpan) -> Bool)
    }

    enum Loader: Sendable {
        case vips(VipsLoader)
        case pixels(PixelLoader)
    }

    typealias PixelLoader =
        @Sendable (_ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken) throws ->
        DecodedPixels

    /// Decodes into memory from `allocate` if the pixels need no further work; nil if the loader must decode.
    typealias DirectLoader =
        @Sendable (
            _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
            _ allocate: PlaneMemory.Allocator
        ) throws -> DecodedPixels?

    typealias PlaneLoader =
        @Sendable (
            _ file: SharedBytes, _ header: ImageHeader, _ plan: DecodePlan, _ token: WorkToken,
            _ allocate: PlaneMemory.Allocator, _ jpeg: JPEGDecoder?
        ) throws -> PlaneDecodeResult

    struct Damage: Sendable {
        var repair: (@Sendable (SharedBytes, ImageHeader, DecodePlan) throws(ImagingError) -> RepairedFile)?
        /// Finds missing pixels that the loader does not report.
        var lacksPixels: (@Sendable (SharedBytes, ImageHeader, WorkToken) throws -> Bool)?
        /// Removes data that the loader would read at great cost without using it.
        var withoutTrailingData: (@Sendable (SharedBytes, WorkToken) throws -> SharedBytes)?
        /// Repairs a file after the loader failed; nil if that is not possible.
        var repairAfterFailure: (@Sendable (SharedBytes, ImageHeader, DecodePlan, WorkToken) throws -> RepairedFile?)?
    }

    struct Encoding: Sendable {
        let saver: VipsSaver
        var planes: PlaneEncoder?
        var attribute: (@Sendable (_ file: SharedBytes, _ exif: [UInt8], _ frame: PixelSize) -> SharedBytes)?
        var addPacket: (@Sendable (_ file: SharedBytes, _ packet: [UInt8], _ frame: PixelSize) -> SharedBytes)?
        var joinGainMap:
            (@Sendable (_ file: SharedBytes, _ map: EncodedGainMap, _ rights: SourceRights?) -> SharedBytes)?
        var addProfile: (@Sendable (_ file: SharedBytes, _ frame: PixelSize) -> SharedBytes)?
    }
}

struct RepairedFile {
    let bytes: SharedBytes
    /// Whether pixels are missing; they are gray or show the previous frame.
    var isIncomplete: Bool
}

struct EncodedGainMap {
    let file: SharedBytes
    let metadata: GainMapMetadata
}

typealias GainMapMaker = (_ file: SharedBytes) throws -> EncodedGainMap?
