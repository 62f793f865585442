import Coordination
import Recipes
import Telemetry
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import Downloading
@testable import ThumbnailPipeline

@Suite(.serialized, .timeLimit(.minutes(1)))
struct PipelineEventTests {
    private let fixture: PipelineFixture

    init() throws { fixture = try PipelineFixture() }

    private var events: [ServiceEvent] { fixture.log.events(after: 0).map(\.event) }
    private let url = "http://example.com/a"
    private static let noTime = ["dns", "connect", "tls", "ttfb", "transfer"].map { StepTiming($0, duration: .zero) }

    @Test func `a miss is a download, a decode and a render; a hit is no event`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail(format: .fixed(.webp))
        #expect(
            events == [
                .download(url: url, state: .started, bytes: 0, total: nil),
                .download(url: url, state: .finished, bytes: 0, total: nil, end: DownloadEnd(timings: Self.noTime)),
                .decode(url: url, duration: .zero, format: "jpeg"),
                .render(url: url, duration: .zero, format: "webp"),
            ])
        let count = events.count
        #expect(fixture.pipeline.cachedThumbnail(for: .path(format: .fixed(.webp))) != nil)
        _ = try await fixture.thumbnail(format: .fixed(.webp))
        #expect(events.count == count)
    }

    @Test func `the last event of a failed download has its error`() async throws {
        fixture.origin.fail(with: .status(500))
        _ = try? await fixture.thumbnail()
        guard case .download(_, .failed, _, _, let end)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(end == DownloadEnd(timings: Self.noTime, error: "origin_error"))
    }

    @Test func `copies of a held origin are served at any age, and other requests fail`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=1, must-revalidate")
        _ = try await fixture.thumbnail()
        fixture.origin.fail(with: .originHeld)
        fixture.time.clock.advance(by: .seconds(1_000_000))
        for width in [20, 30] {
            let thumbnail = try await fixture.thumbnail(width: width)
            #expect(thumbnail.cacheStatus.last.map { $0.outcome == .hit && $0.timeToLive ?? 0 < 0 } == true)
        }
        await #expect(throws: DownloadError.originHeld) { try await fixture.thumbnail("/b") }
        fixture.origin.fail(with: nil)
        fixture.origin.serve(SampleFiles.jpeg, at: "/b")
        _ = try await fixture.thumbnail("/b")
    }

    @Test func `an operator's removal is recorded, even of nothing`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        let removed = try await fixture.control.remove(source: "HTTP://example.com:80/a")
        #expect(removed.entries == 3)
        #expect(events.last == .purge(url: url, entries: 3, bytes: removed.bytes, cause: .operator))
        _ = try await fixture.control.remove(tag: "spring")
        #expect(events.last == .purge(url: nil, tag: "spring", entries: 0, bytes: 0, cause: .operator))
        _ = try await fixture.control.removeAll()
        #expect(events.last == .purge(url: nil, entries: 0, bytes: 0, cause: .operator))
    }

    @Test func `a purge by a new version is recorded`() async throws {
        _ = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.other)
        _ = try await fixture.control.refresh(source: "http://example.com/a", receipt: "")
        let purges = events.filter { $0.kind == .purge }
        #expect(purges.count == 1 && purges.first?.url == url)
        #expect(causes == [.changed])
    }

    private var causes: [PurgeCause] {
        events.compactMap { event in
            guard case .purge(_, _, _, _, let cause) = event else { return nil }
            return cause
        }
    }

    @Test func `a purge's cause is a lost source or an uncacheable one`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=0")
        _ = try await fixture.thumbnail()
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "no-store")
        _ = try await fixture.thumbnail()
        #expect(causes == [.notStorable])
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=0")
        _ = try await fixture.thumbnail()
        fixture.origin.fail(with: .notFound(404))
        await #expect(throws: DownloadError.self) { try await fixture.thumbnail() }
        #expect(causes == [.notStorable, .gone])
    }

    @Test func `a cache that reaches its capacity reports it`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, at: "/a", cacheControl: "max-age=3600")
        fixture.origin.serve(SampleFiles.jpeg, at: "/b", cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        let usage = fixture.caches.memory.decoded.memoryUsage
        fixture.caches.memory.decoded.setBounds(CacheBounds(capacity: usage, preferred: usage))
        _ = try await fixture.thumbnail("/b")
        #expect(events.filter { $0.kind == .purge } == [.purge(url: nil, entries: 1, bytes: usage, cause: .full)])
    }

    @Test func `a purge for memory is recorded without a source`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        let usage = fixture.caches.memory.decoded.memoryUsage
        #expect(fixture.caches.evict(.empty) == usage)
        #expect(events.last == .purge(url: nil, entries: 1, bytes: usage, cause: .memory))
    }

    @Test func `an origin's health is an event in the terms of the status`() {
        let key = OriginKey(scheme: "https", host: "h", port: 443)
        let snapshots = [
            OriginSnapshot(origin: key, isReachable: true, isSuspended: false, retryAfter: nil),
            OriginSnapshot(origin: key, isReachable: false, isSuspended: false, retryAfter: nil),
            OriginSnapshot(origin: key, isReachable: false, isSuspended: true, retryAfter: .seconds(5)),
        ]
        #expect(
            snapshots.map { ServiceEvent($0) }
                == ["reachable", "not_reachable", "suspended"].map { .origin("https://h:443", state: $0) })
    }

    @Test func `the statistics show the current state`() async throws {
        fixture.origin.serve(SampleFiles.jpeg, cacheControl: "max-age=3600")
        _ = try await fixture.thumbnail()
        let statistics = fixture.control.statistics
        #expect(statistics.decodes == 1 && statistics.renders == 1)
        #expect(statistics.activeDownloads == 0 && statistics.maximumDownloads == 32)
        #expect(statistics.small.threads == 2 && statistics.expensive.threads == 1)
        #expect(statistics.caches.map(\.name) == ["decoded", "result", "source"])
        #expect(statistics.caches.map(\.statistics.usage.entries) == [1, 1, 1])
    }
}
