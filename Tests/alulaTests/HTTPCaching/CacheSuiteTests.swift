import Downloading
import HTTPTypes
import TestSupport
import Testing

@testable import Composition

/// The behaviors that the public suite of cache tests requires, tested against the whole service.
///
/// docs/http-caching.md lists the ones that do not apply, with reasons.
@Suite(.timeLimit(.minutes(3)))
struct CacheSuiteTests {
    enum Group: String, CaseIterable, CustomTestStringConvertible {
        case ageParsing, cacheControlFreshness, cacheControlParsing, expires, heuristics, age
        case responseDirectives, statuses, vary, requestDirectives, stale, validation

        var testDescription: String { rawValue }

        var cases: [CacheCase] {
            switch self {
            case .ageParsing: CacheCase.ageParsing
            case .cacheControlFreshness: CacheCase.cacheControlFreshness
            case .cacheControlParsing: CacheCase.cacheControlParsing
            case .expires: CacheCase.expires
            case .heuristics: CacheCase.heuristics
            case .age: CacheCase.age
            case .responseDirectives: CacheCase.responseDirectives
            case .statuses: CacheCase.statuses
            case .vary: CacheCase.vary
            case .requestDirectives: CacheCase.requestDirectives
            case .stale: CacheCase.stale
            case .validation: CacheCase.validation
            }
        }
    }

    @Test(arguments: Group.allCases)
    func `the behaviors of a shared cache`(group: Group) async throws {
        let clock = ManualTimekeeper()
        try await withService(["--client-cache-control", "honour"], time: clock) { running in
            for item in group.cases { try await item.play(on: running, clock: clock) }
        }
    }

    @Test func `stale-while-revalidate: served at once, and validated once`() async throws {
        let clock = ManualTimekeeper()
        try await withService(time: clock) { running in
            let gate = Gate()
            let image = FakeResponse.image(ImageFixture.jpeg.array).with("ETag", "\"1\"")
            running.origin.serve("/a", image.with("Cache-Control", "max-age=1, stale-while-revalidate=3600"))
            _ = try await running.thumbnail("/a")
            clock.advance(by: .seconds(3))
            running.origin.serve("/a", image.held(at: gate))
            for _ in 1...5 {
                let response = try await running.thumbnail("/a")
                #expect(response.status == 200)
                #expect(response.headerFields[.cacheStatus] == "alula-result;hit, alula-source;hit;ttl=-2")
                #expect(response.headerFields[.age] == "3")
            }
            await gate.arrivals(1)
            gate.open()
            #expect(await eventually { running.service.downloader.fetches.isEmpty })
            #expect(running.origin.hits("/a") == 2)
        }
    }

    @Test func `query-args: another query is another source, the same one is the same`() async throws {
        try await withService(time: ManualTimekeeper()) { running in
            running.origin.serve("/a", .image(ImageFixture.jpeg.array).with("Cache-Control", "max-age=3600"))
            for (query, hits) in [("?x=1", 1), ("?x=2", 2), ("?x=1", 2)] {
                _ = try await running.thumbnail("/a" + query)
                #expect(running.origin.hits("/a") == hits)
            }
        }
    }

    @Test func `interim-not-cached: an interim response is not the response`() async throws {
        try await withService(time: ManualTimekeeper()) { running in
            let body = ImageFixture.jpeg.array
            let head =
                "HTTP/1.1 103 Early Hints\r\nCache-Control: no-store\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nCache-Control: max-age=3600\r\n"
                + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
            running.origin.serve("/a", .raw(Array(head.utf8) + body))
            for _ in 1...2 {
                let response = try await running.thumbnail("/a")
                #expect(response.status == 200)
            }
            #expect(running.origin.hits("/a") == 1)
        }
    }

    @Test func `conditional: If-None-Match precedes If-Modified-Since, and a 304 has the tag`() async throws {
        try await withService(time: ManualTimekeeper()) { running in
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            running.origin.serve(
                "/a",
                .image(ImageFixture.jpeg.array).with("Cache-Control", "max-age=3600").with("Last-Modified", date))
            let tag = try #require(try await running.thumbnail("/a").headerFields[.eTag])
            for (fields, status) in [
                ("If-None-Match: \(tag)\r\n", 304), ("If-None-Match: \"x\", W/\(tag)\r\n", 304),
                ("If-Modified-Since: \(date)\r\n", 304), ("If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\r\n", 304),
                ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", 200),
                ("If-None-Match: \"x\"\r\nIf-Modified-Since: \(date)\r\n", 200),
            ] {
                let response = try await running.thumbnail("/a", fields: fields)
                #expect(response.status == status, "\(fields)")
                #expect(response.headerFields[.eTag] == tag)
            }
        }
    }
}
