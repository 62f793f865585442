import Downloading
import HTTPTypes
import Memory
import TestSupport
import Testing

/// Transfers that are interrupted and resumed.
@Suite(.timeLimit(.minutes(1)))
struct ResumptionTests {
    private let body = bytes(200_000)
    private let cutAfter = 120_000

    @Test(arguments: [true, false])
    func `a transfer cut at 60 % resumes where it ended, byte-identical`(isReset: Bool) async throws {
        let fixture = try LoaderFixture()
        let whole = FakeResponse.image(body).with("ETag", "\"1\"").with("Cache-Control", "max-age=9")
        serve(fixture, first: isReset ? whole.reset(afterBytes: cutAfter) : whole.cut(afterBytes: cutAfter)) { start in
            rest(from: start).with("ETag", "\"1\"")
        }
        let progress = TransferProgress()
        let source = try await fixture.load("/a", progress: progress)
        #expect(source.bytes.array == body)
        #expect(source.validator == .entityTag("\"1\""))
        #expect(source.head.status == 200)
        #expect(source.head.freshness.lifetime == 9)
        #expect(progress.receivedBytes == body.count)
        let request = try #require(fixture.origin.requests.last)
        let start = try #require(Self.start(request))
        #expect((64 << 10...cutAfter).contains(start))
        #expect(request.value("If-Range") == "\"1\"")
        #expect(fixture.origin.hits("/a") == 2)
    }

    @Test func `a strong date replaces a tag, and the hash covers the whole`() async throws {
        let fixture = try LoaderFixture()
        let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
        let whole = FakeResponse.image(body).with("Last-Modified", changed).with(
            "Date", "Sun, 06 Nov 1994 08:49:38 GMT")
        serve(fixture, first: whole.cut(afterBytes: cutAfter)) { start in rest(from: start) }
        let resumed = try await fixture.load("/a")
        #expect(fixture.origin.requests.last?.value("If-Range") == changed)
        fixture.origin.serve("/whole", whole)
        let atOnce = try await fixture.load("/whole")
        #expect(resumed.bytes.array == body)
        #expect(resumed.validator == atOnce.validator)
    }

    @Test func `a transfer resumes after several cuts, but not forever`() async throws {
        let fixture = try LoaderFixture()
        let whole = FakeResponse.image(body).with("ETag", "\"1\"")
        serve(fixture, first: whole.cut(afterBytes: 80_000)) { start in
            rest(from: start).with("ETag", "\"1\"").cut(afterBytes: 50_000)
        }
        #expect(try await fixture.load("/a").bytes.array == body)
        serve(fixture, first: whole.cut(afterBytes: 80_000)) { start in
            rest(from: start).with("ETag", "\"1\"").cut(afterBytes: 1_000)
        }
        let before = fixture.origin.hits("/a")
        let error = await #expect(throws: DownloadError.self) { try await fixture.load("/a") }
        #expect(error.map(isProtocolError) == true)
        #expect(fixture.origin.hits("/a") - before == 4)
    }

    @Test func `a source that changes in between is fetched from the start`() async throws {
        let fixture = try LoaderFixture()
        let new = Array(body.reversed())
        serve(fixture, first: .image(body).with("ETag", "\"1\"").cut(afterBytes: cutAfter)) { _ in
            .image(new).with("ETag", "\"2\"")
        }
        let progress = TransferProgress()
        let source = try await fixture.load("/a", progress: progress)
        #expect(source.bytes.array == new)
        #expect(source.validator == .entityTag("\"2\""))
        #expect(progress.receivedBytes == new.count)
        #expect(fixture.origin.hits("/a") == 2)
    }

    /// Responses to the request for the rest that must be rejected.
    private enum Wrong: String, CaseIterable, CustomTestStringConvertible {
        case start, total, end, tag, noRange, coding, notSatisfiable

        var testDescription: String { rawValue }
    }

    @Test(arguments: Wrong.allCases)
    private func `a wrong response to the request for the rest restarts from zero`(wrong: Wrong) async throws {
        let fixture = try LoaderFixture()
        let whole = FakeResponse.image(body).with("ETag", "\"1\"")
        serve(fixture, first: whole.cut(afterBytes: cutAfter), again: whole) { start in
            let total = body.count
            func partial(_ range: String?, tag: String = "\"1\"", from: Int) -> FakeResponse {
                let answer = FakeResponse(
                    status: 206, fields: [("Content-Type", "image/jpeg"), ("ETag", tag)], body: Array(body[from...]))
                return range.map { answer.with("Content-Range", $0) } ?? answer
            }
            switch wrong {
            case .start: return partial("bytes \(start - 1)-\(total - 1)/\(total)", from: start - 1)
            case .total: return partial("bytes \(start)-\(total)/\(total + 1)", from: start)
            case .end: return partial("bytes \(start)-\(total - 2)/\(total)", from: start)
            case .tag: return partial("bytes \(start)-\(total - 1)/\(total)", tag: "\"2\"", from: start)
            case .noRange: return partial(nil, from: start)
            case .coding:
                return partial("bytes \(start)-\(total - 1)/\(total)", from: start).with("Content-Encoding", "gzip")
            case .notSatisfiable: return .status(416)
            }
        }
        #expect(try await fixture.load("/a").bytes.array == body)
        #expect(fixture.origin.hits("/a") == 3)
        #expect(fixture.origin.requests.last?.value("Range") == nil)
    }

    @Test func `too few bytes, a weak tag, or an origin without ranges prevents a resumption`() async throws {
        let fixture = try LoaderFixture()
        for answer in [
            FakeResponse.image(body).with("ETag", "\"1\"").cut(afterBytes: (64 << 10) - 1),
            FakeResponse.image(body).with("ETag", "W/\"1\"").cut(afterBytes: cutAfter),
            FakeResponse.image(body).cut(afterBytes: cutAfter),
            FakeResponse.image(body).with("ETag", "\"1\"").with("Accept-Ranges", "none").cut(afterBytes: cutAfter),
        ] {
            fixture.origin.serve("/a", answer)
            let before = fixture.origin.hits("/a")
            let error = await #expect(throws: DownloadError.self) { try await fixture.load("/a") }
            #expect(error.map(isProtocolError) == true)
            #expect(fixture.origin.hits("/a") == before + 1)
        }
    }

    @Test func `an unsolicited 206 stays an error`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", rest(from: 1))
        let error = await #expect(throws: DownloadError.self) { try await fixture.load("/a") }
        #expect(error.map(isProtocolError) == true)
    }

    /// Serves `first` for the whole file, then `again`; `answer` responds to range requests.
    private func serve(
        _ fixture: LoaderFixture, first: FakeResponse, again: FakeResponse? = nil,
        rest answer: @escaping @Sendable (Int) -> FakeResponse
    ) {
        let hits = fixture.origin.hits("/a")
        let origin = Origin(fixture.origin)
        fixture.origin.serveOthers { request in
            if let start = Self.start(request) { return answer(start) }
            let isFirst = origin.hits("/a") == hits + 1
            return isFirst ? first : again ?? first
        }
    }

    private func rest(from start: Int) -> FakeResponse {
        FakeResponse(
            status: 206,
            fields: [
                ("Content-Type", "image/jpeg"), ("Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)"),
            ], body: Array(body[start...]))
    }

    private static func start(_ request: FakeOrigin.Request) -> Int? {
        request.value("Range").flatMap { Int($0.dropFirst("bytes=".count).dropLast()) }
    }
}

/// Gives an origin's script access to the origin without retaining it.
private struct Origin: Sendable {
    private weak let origin: FakeOrigin?

    init(_ origin: FakeOrigin) { self.origin = origin }

    func hits(_ path: String) -> Int { origin?.hits(path) ?? 0 }
}
