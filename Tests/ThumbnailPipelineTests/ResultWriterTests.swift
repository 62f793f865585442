import Coordination
import HTTPTypes
import Memory
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import Downloading
@testable import Recipes
@testable import ThumbnailPipeline

/// The `Cache-Control` of results that are written to a bucket.
struct ResultWriterTests {
    /// Records the fields of written objects.
    private final class Recorder: DataLoading {
        let fields = Locked<HTTPFields>([:])

        func load(
            _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
        ) async throws -> TransferResult {
            fields.withLock { $0 = request.upload?.fields ?? [:] }
            return .head
        }
    }

    private static let now = 1_800_000_000

    private static func freshness(_ fields: HTTPFields) -> SourceFreshness {
        let date = HTTPDate(secondsSince1970: now)
        return SourceFreshness(status: 200, headerFields: fields, requestedAt: date, receivedAt: date)
    }

    private static func thumbnail(_ source: SourceFreshness, bounds: ClientMaxAge = ClientMaxAge()) -> Thumbnail {
        let image = EncodedImage(bytes: SharedBytes([1]), format: .webp, size: PixelSize(width: 1, height: 1))
        return Thumbnail(
            RenderedImage(image, eTag: "\"1\"", cacheStatus: []), lastModified: nil,
            freshness: Freshness(source, at: now, isFromCache: false, bounds: bounds))
    }

    /// The `Cache-Control` that the bucket receives.
    private func told(
        _ thumbnail: Thumbnail, of source: OpenedSource? = nil, place: String? = nil, rendition: String? = nil
    ) async throws -> String? {
        let recorder = Recorder()
        var bucket = Origin(name: "out", location: .web(base: try SourceURL(parsing: "http://h/b")))
        bucket.credentials = .signature(.fixed(.init(id: "a", secret: Secret("b"))), region: "eu")
        (bucket.isWritable, bucket.cacheControl) = (true, place)
        let resultWriter = ResultWriter(
            WritableOrigins(DownloadRules(DownloadConfiguration(origins: [bucket])), web: recorder, maximumReads: 1))
        var destination = try resultWriter.destination("out:a.webp")
        destination.cacheControl = rendition ?? destination.cacheControl
        _ = try await resultWriter.put(thumbnail, at: destination, of: source)
        return recorder.fields.withLock { $0[.cacheControl] }
    }

    private static let changed = HTTPDate(secondsSince1970: now - 20_000).imfFixdate

    @Test(
        arguments: [
            ([.cacheControl: "max-age=60"], "public, max-age=60"), ([.cacheControl: "private"], "private"),
            ([.cacheControl: "private, max-age=9"], "private, max-age=9"), ([.cacheControl: "no-store"], "no-store"),
            ([.cacheControl: "no-cache"], "public, max-age=0"), ([:], nil), ([.lastModified: changed], nil),
            ([.lastModified: changed, .cacheControl: "private"], "private"),
        ] as [(HTTPFields, String?)])
    func `an explicit lifetime is sent, but not a heuristic one`(fields: HTTPFields, expected: String?) async throws {
        let source = Self.freshness(fields)
        #expect(try await told(Self.thumbnail(source)) == expected)
        // An uncacheable source is opened under a name that no origin has.
        let passing = try OpenedSource(
            uncacheable: SharedBytes(ImageFixture.jpeg.array), name: "0a", at: Self.now, fetched: source)
        let made = Self.thumbnail(passing.record.head.freshness)
        #expect(try await told(made, of: passing) == expected)
    }

    @Test func `no lifetime is sent for an uploaded image`() async throws {
        let brought = try OpenedSource(upload: SharedBytes(ImageFixture.jpeg.array), at: Self.now)
        #expect(try await told(Self.thumbnail(brought.record.head.freshness), of: brought) == nil)
    }

    @Test func `an operator's limit is not a heuristic`() async throws {
        var bounds = ClientMaxAge()
        bounds.fixed = 77
        let made = Self.thumbnail(Self.freshness([.lastModified: Self.changed]), bounds: bounds)
        #expect(try await told(made) == "public, max-age=77")
    }

    @Test func `a rendition's value overrides the destination's, which overrides the source's`() async throws {
        let made = Self.thumbnail(Self.freshness([.cacheControl: "no-store"]))
        #expect(try await told(made, place: "max-age=1") == "max-age=1")
        #expect(try await told(made, place: "max-age=1", rendition: "max-age=2") == "max-age=2")
    }
}
