import Coordination
import Downloading
import Foundation
import HTTPTypes
import Memory
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import DiskCaching
@testable import ThumbnailPipeline

/// The disk layer below memory, with entries that survive a restart.
@Suite(.serialized, .timeLimit(.minutes(2)))
final class DiskLayerTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "alula-pipeline-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs `body` with a new pipeline over the folder.
    private func life<Value>(
        versions: String = "test", _ body: (PipelineFixture) async throws -> Value
    ) async throws -> Value {
        let fixture = try PipelineFixture(diskFolder: folder.path, versions: versions)
        let store = try #require(fixture.store)
        do {
            let value = try await body(fixture)
            await store.shutDown(timeLimit: .seconds(40))
            return value
        } catch {
            await store.shutDown(timeLimit: .seconds(40))
            throw error
        }
    }

    private func fill(cacheControl: String = "max-age=100", eTag: String? = "\"1\"") async throws -> Thumbnail {
        try await life { fixture in
            fixture.origin.serve(SampleFiles.jpeg, cacheControl: cacheControl, eTag: eTag)
            return try await fixture.thumbnail()
        }
    }

    @Test(arguments: ["\"1\"", nil])
    func `a result survives a restart byte for byte, without a transfer`(eTag: String?) async throws {
        let first = try await fill(eTag: eTag)
        try await life { fixture in
            let second = try await fixture.thumbnail()
            #expect(second.image.bytes.array == first.image.bytes.array && second.eTag == first.eTag)
            #expect(second.image.size == first.image.size && second.image.format == first.image.format)
            #expect(second.lastModified == first.lastModified)
            #expect(second.statusTexts == ["alula-result hit"])
            #expect(second.freshness.age == 0)
            #expect(fixture.pipeline.cachedThumbnail(for: .path()) != nil)
            #expect(fixture.origin.loads == 0 && fixture.decodes == 0 && fixture.renders == 0)
        }
    }

    @Test func `a source survives a restart: another size costs a decode and no transfer`() async throws {
        _ = try await fill()
        try await life { fixture in
            let thumbnail = try await fixture.thumbnail(width: 11)
            #expect(
                thumbnail.statusTexts == [
                    "alula-result fwd=uri-miss stored", "alula-decoded fwd=uri-miss stored", "alula-source hit",
                ])
            #expect(fixture.origin.loads == 0 && fixture.decodes == 1)
        }
    }

    @Test func `after a restart a stale source is confirmed once, and nothing is decoded`() async throws {
        _ = try await fill(cacheControl: "max-age=10")
        for round in 1...2 {
            try await life { fixture in
                fixture.time.clock.advance(by: .seconds(20 * round))
                fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=10", eTag: "\"1\"")
                _ = try await fixture.thumbnail()
                #expect(fixture.origin.loads == 1 && fixture.origin.confirmations == 1)
                #expect(fixture.decodes == 0)
                _ = try await fixture.thumbnail()
                #expect(fixture.origin.loads == 1)
            }
        }
        try await life { fixture in
            // The latest confirmation is stored.
            fixture.time.clock.advance(by: .seconds(45))
            _ = try await fixture.thumbnail()
            #expect(fixture.origin.loads == 0)
        }
    }

    @Test func `after a restart a stale copy is served while its origin is down`() async throws {
        let first = try await fill(cacheControl: "max-age=10, stale-if-error=100")
        try await life { fixture in
            fixture.time.clock.advance(by: .seconds(20))
            fixture.origin.fail(with: .status(503))
            let second = try await fixture.thumbnail()
            let other = try await fixture.thumbnail(width: 11)
            #expect(second.eTag == first.eTag && other.image.size.width == 11)
        }
    }

    @Test func `an uncacheable version is not stored, and the earlier one is removed`() async throws {
        _ = try await fill()
        try await life { fixture in
            fixture.time.clock.advance(by: .seconds(200))
            fixture.origin.serve(SampleFiles.other, cacheControl: "no-store", eTag: "\"2\"")
            _ = try await fixture.thumbnail()
            _ = try await fixture.thumbnail("/a", width: 9)
        }
        try await life { fixture in
            _ = try await fixture.thumbnail()
            #expect(fixture.origin.loads == 1 && fixture.origin.confirmations == 0)
        }
    }

    @Test(arguments: [nil, "http://example.com/a", "http://example.com/mark"] as [ExactText?])
    func `a result of two sources survives a restart, but not the removal of either`(removed: ExactText?) async throws {
        func serve(_ fixture: PipelineFixture) {
            fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=100", eTag: "\"1\"")
            fixture.origin.serve(ImageFixture.png.bytes, at: "/mark", cacheControl: "max-age=100", eTag: "\"2\"")
        }
        let first = try await life { fixture in
            serve(fixture)
            return try await fixture.thumbnail(of: .marked())
        }
        try await life { fixture in
            serve(fixture)
            if let removed { _ = try await fixture.control.remove(source: removed) }
            let second = try await fixture.thumbnail(of: .marked())
            #expect(second.eTag == first.eTag)
            #expect(fixture.origin.loads == (removed == nil ? 0 : 1))
            #expect(fixture.renders == (removed == nil ? 0 : 1))
        }
        try await life { fixture in
            #expect(try await fixture.thumbnail(of: .marked()).statusTexts == ["alula-result hit"])
            #expect(fixture.renders == 0)
            // The image without a watermark is a different result.
            _ = try await fixture.thumbnail()
            #expect(fixture.renders == 1)
        }
    }

    @Test func `a replaced version does not come back`() async throws {
        let old = try await fill()
        let new = try await life { fixture in
            fixture.time.clock.advance(by: .seconds(200))
            fixture.origin.serve(SampleFiles.other, cacheControl: "max-age=1000", eTag: "\"2\"")
            return try await fixture.thumbnail()
        }
        #expect(old.eTag != new.eTag)
        try await life { fixture in
            let thumbnail = try await fixture.thumbnail()
            #expect(thumbnail.eTag == new.eTag)
            #expect(fixture.origin.loads == 0)
        }
    }

    @Test func `a source removed by an operator is gone after a restart as well`() async throws {
        _ = try await fill()
        try await life { fixture in
            fixture.origin.serve(SampleFiles.jpeg, at: "/b", cacheControl: "max-age=100")
            _ = try await fixture.thumbnail("/b")
            let removed = try await fixture.control.remove(source: "http://example.com/a")
            // The record, the bytes and the result, although memory had none of them.
            #expect(removed.entries == 3)
        }
        try await life { fixture in
            fixture.origin.serve(SampleFiles.jpeg, at: "/b", cacheControl: "max-age=100")
            _ = try await fixture.thumbnail("/b")
            #expect(fixture.origin.loads == 0)
            _ = try await fixture.thumbnail()
            #expect(fixture.origin.loads == 1)
            _ = try await fixture.control.removeAll()
        }
        try await life { fixture in
            fixture.origin.serve(SampleFiles.jpeg, at: "/b", cacheControl: "max-age=100")
            _ = try await fixture.thumbnail("/b")
            #expect(fixture.origin.loads == 1)
        }
    }

    @Test func `results of another release are not used, sources are`() async throws {
        _ = try await fill()
        try await life(versions: "another") { fixture in
            _ = try await fixture.thumbnail()
            #expect(fixture.origin.loads == 0 && fixture.renders == 1)
        }
    }

    @Test func `changes of other sources during a disk read do not make it a miss`() async throws {
        _ = try await fill()
        try await life { fixture in
            let store = try #require(fixture.store)
            let hold = await store.hold()
            let identity = try fixture.downloader.identity(of: Request.path().source)
            let reading = Task.immediate { await fixture.caches.lookUpRecord(for: identity) }
            try #require(store.pendingCount == 1)
            let other = try fixture.downloader.identity(of: Request.path("/b").source)
            CachedSources(fixture.caches).remove(other)
            hold.release()
            #expect(await reading.value != nil)
        }
    }

    @Test func `a source fetched under other settings of its origin's name is not used`() async throws {
        let store = try DiskStore(
            DiskStoreConfiguration(
                folder: folder.path, capacities: [.source: 1 << 20, .record: 1 << 20], contentVersion: 1),
            logger: .silent, timekeeper: ManualTimekeeper())
        func source(_ rules: OriginRules) throws -> SourceIdentity {
            SourceIdentity(url: try SourceURL(parsing: "http://example.com/a"), rules: rules)
        }
        let identity = try source(.shop())
        let now = HTTPDate(secondsSince1970: 1_000_000_000)
        let record = try SourceRecord(
            SourceHead(
                identity: identity, validator: .entityTag("1"), headerFields: [:], requestedAt: now, receivedAt: now),
            bytes: SampleFiles.jpeg)
        let disk = DiskLayer(store: store, versions: "test")
        CacheLayers(configuration: PipelineConfiguration(), disk: disk, timekeeper: ManualTimekeeper()).storeSource(
            record)
        #expect(await disk.lookup(.record(try source(.shop()))).value != nil)
        #expect(await disk.lookup(.record(try source(.shop(base: "http://example.com/b")))).value == nil)
        #expect(await disk.lookup(.record(try source(.unrestricted))).value == nil)
        // A purge under other settings must also remove the entry, because the earlier settings may return.
        _ = await disk.purge(.sources([try source(.shop(base: "http://example.com/b"))]))
        #expect(await disk.lookup(.record(try source(.shop()))).value == nil)
        await store.shutDown(timeLimit: .queueTimeout)
    }

    @Test(arguments: [ImageFormat.jpeg, .tiff]) func `a record preserves the file's Exif, on all pages`(
        format: ImageFormat
    ) throws {
        let exif = EXIFTexts(
            make: [65], model: [66, 66], dateTime: [67],
            attribution: Attribution(artist: [68], copyright: [UInt8](repeating: 69, count: 4_096)))
        func header(_ width: Int, _ pages: [ImageHeader] = []) -> ImageHeader {
            var header = ImageHeader(
                format: format, storedSize: PixelSize(width: width, height: 3), frames: format == .tiff ? 2 : 1,
                exif: exif)
            header.pages = pages
            return header
        }
        let now = HTTPDate(secondsSince1970: 1_000_000_000)
        let identity = SourceIdentity(url: try SourceURL(parsing: "http://example.com/a"))
        let head = SourceHead(
            identity: identity, validator: .entityTag("1"), headerFields: [:], requestedAt: now, receivedAt: now)
        var whole = header(4, format == .tiff ? [header(4), header(5)] : [])
        var rights = SourceRights()
        for field in SourceRights.Field.allCases { rights.add(field, text: field.rawValue.utf8) }
        rights.hasManifest = true
        whole.rights = rights
        let record = SourceRecord(head, header: whole, byteCount: 9)
        #expect(SourceRecord(record.encoded, of: identity)?.header == whole)
        #expect(record.encoded.count < 5_000)
    }

    @Test func `an entry larger than memory's share is served from the disk`() async throws {
        try await life { _ in }
        let fixture = try PipelineFixture(diskFolder: folder.path) {
            $0.sourceCacheMemory = 100
            $0.resultCacheCapacity = 0
            $0.resultCachePreferred = 0
            $0.decodedCacheCapacity = 0
            $0.decodedCachePreferred = 0
        }
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=100", eTag: "\"1\"")
        let first = try await fixture.thumbnail()
        let again = try await fixture.thumbnail()
        #expect(again.eTag == first.eTag && again.statusTexts == ["alula-result hit"])
        _ = try await fixture.thumbnail(width: 11)
        #expect(fixture.origin.loads == 1 && fixture.decodes == 2)
        await fixture.store?.shutDown(timeLimit: .seconds(40))
    }
}
