import Coordination
import HTTPTypes
import Memory
import TestSupport
import Testing
import Text

@testable import Downloading

/// Sources of which only some ranges are fetched.
@Suite(.timeLimit(.minutes(1)))
struct PartialFetchTests {
    private static let first = 0..<65_536
    private let body = bytes(300_000)

    /// A scan that needs the bytes at these offsets.
    private func scan(to offsets: [Int], atMost limit: Int = 128 << 10) -> SourceScan {
        SourceScan(.header) { source in
            let reading = source.file.read { span in
                offsets.filter { $0 < span.byteCount }.map {
                    unsafe span.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
                }
            }
            guard let missing = reading?.missing else { return .whole }
            return missing.isEmpty ? .complete : .ranges(missing, atMost: limit)
        }
    }

    private func fetch(
        _ fixture: LoaderFixture, to offsets: [Int] = [0], path: String = "/a", atMost limit: Int = 128 << 10,
        cache: StubCache = StubCache()
    ) async throws -> SourceCopy {
        let identity = try fixture.rules.identity(of: ExactText(fixture.origin.url(path)))
        return try await fixture.downloader(cache: cache).downloadNeededBytes(
            of: SourceRequest(identity: identity, scan: scan(to: offsets, atMost: limit)), receipt: "")
    }

    /// Serves the file at `/a` and counts the bytes sent.
    private func serve(
        _ fixture: LoaderFixture, _ bytes: [UInt8], _ fields: [(name: String, value: String)] = [("ETag", "\"1\"")]
    ) -> RangedFile {
        let file = RangedFile(bytes, fields)
        fixture.origin.serveOthers { file.answer(to: $0) }
        return file
    }

    private func partialSource(_ copy: SourceCopy) throws -> PartialSource { try #require(copy.ranges) }

    private func wholeBytes(_ copy: SourceCopy) throws -> [UInt8] { try #require(copy.bytes).array }

    @Test func `the first range suffices without a validator`() async throws {
        let fixture = try LoaderFixture()
        let file = serve(fixture, body, [])
        let cache = StubCache(keeps: true)
        let source = try partialSource(try await fetch(fixture, cache: cache))
        #expect(source.file.count == body.count && source.file.knownCount == 65_536)
        #expect(file.requests == [Self.first] && file.sentBytes == 65_536 && cache.storeCount == 0)
    }

    @Test func `the ranges that the scan needs follow, with the validator`() async throws {
        let fixture = try LoaderFixture()
        let file = serve(fixture, body)
        let offset = 200_000 / PartialFile.page * PartialFile.page
        let fetched = try await fetch(fixture, to: [9, offset + 5, 299_999])
        #expect(file.requests.first == Self.first && file.requests.count == 3)
        #expect(file.requests.dropFirst().allSatisfy { $0.map { $0.count <= 32 << 10 } == true })
        #expect(fixture.origin.requests.map { $0.value("If-Range") } == [nil, "\"1\"", "\"1\""])
        #expect(fetched.byteCount == file.sentBytes && fetched.startedBytes == file.sentBytes)
        let reading = try partialSource(fetched).file.read {
            unsafe $0.unsafeLoad(fromByteOffset: offset + 5, as: UInt8.self)
        }
        #expect(reading?.value == body[offset + 5] && reading?.missing == [])
    }

    @Test func `near bytes are one range`() async throws {
        let fixture = try LoaderFixture()
        let file = serve(fixture, body)
        let offset = 200_000 / PartialFile.page * PartialFile.page
        _ = try partialSource(try await fetch(fixture, to: [offset, offset + 9_000, offset + 20_000]))
        #expect(file.requests.count == 2)
    }

    @Test func `a file within the first range is a whole source`() async throws {
        let fixture = try LoaderFixture()
        for count in [1, 65_535, 65_536] {
            let file = serve(fixture, Array(body.prefix(count)))
            let cache = StubCache(keeps: true)
            #expect(try wholeBytes(try await fetch(fixture, cache: cache)).count == count)
            #expect(file.requests == [0..<count] && cache.storeCount == 1)
        }
    }

    @Test func `an origin that ignores ranges sends the source once`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .image(body))
        let cache = StubCache(keeps: true)
        #expect(try wholeBytes(try await fetch(fixture, to: [200_000], cache: cache)) == body)
        #expect(fixture.origin.hits("/a") == 1 && cache.storeCount == 1)
    }

    /// Unusable responses to the first range.
    private enum Wrong: CaseIterable {
        case start, end, longer, shorter, unknownTotal, noRange, twoRanges, several, coded, truncated
        case notSatisfiable, rejected, notImplemented
    }

    @Test(arguments: Wrong.allCases)
    private func `a range that is not the requested one costs one ordinary download`(wrong: Wrong) async throws {
        let (fixture, body) = (try LoaderFixture(), body)
        func answer(_ range: String?, _ length: Int = 65_536) -> FakeResponse {
            let answer = FakeResponse(
                status: 206, fields: [("Content-Type", "image/jpeg"), ("ETag", "\"1\"")],
                body: Array(body.prefix(length)))
            return range.map { answer.with("Content-Range", $0) } ?? answer
        }
        let right = "bytes 0-65535/300000"
        let first =
            switch wrong {
            case .start: answer("bytes 1-65536/300000")
            case .end: answer("bytes 0-65534/300000", 65_535)
            case .longer: answer("bytes 0-65536/300000", 65_537)
            case .shorter: answer(right, 1_000)
            case .unknownTotal: answer("bytes 0-65535/*")
            case .noRange: answer(nil)
            case .twoRanges: answer(right).with("Content-Range", "bytes 0-9/300000")
            case .several:
                FakeResponse(
                    status: 206, fields: [("Content-Type", "multipart/byteranges; boundary=a")],
                    body: Array("--a--".utf8))
            case .coded: answer(right).with("Content-Encoding", "gzip")
            case .truncated: answer(right).cut(afterBytes: 9_000)
            case .notSatisfiable: FakeResponse.status(416)
            case .rejected: FakeResponse.status(400)
            case .notImplemented: FakeResponse.status(501)
            }
        fixture.origin.serveOthers { $0.value("Range") == nil ? .image(body) : first }
        let fetched = try await fetch(fixture)
        #expect(try wholeBytes(fetched) == body)
        #expect(fixture.origin.requests.map { $0.value("Range") } == ["bytes=0-65535", nil])
        #expect(fetched.startedBytes >= body.count)
    }

    @Test(arguments: [[], [("ETag", "W/\"1\"")], [("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")]])
    func `without a strong validator a second range is an ordinary download`(
        fields: [(String, String)]
    ) async throws {
        let fixture = try LoaderFixture()
        let file = serve(fixture, body, fields.map { ($0.0, $0.1) })
        let fetched = try await fetch(fixture, to: [200_000])
        #expect(try wholeBytes(fetched) == body)
        #expect(file.requests == [Self.first, nil] && fetched.startedBytes == file.sentBytes)
    }

    @Test func `a strong date is a validator`() async throws {
        let fixture = try LoaderFixture()
        let changed = "Sun, 06 Nov 1994 08:49:37 GMT"
        let file = serve(fixture, body, [("Last-Modified", changed), ("Date", "Sun, 06 Nov 1994 08:49:39 GMT")])
        _ = try partialSource(try await fetch(fixture, to: [200_000]))
        #expect(file.requests.count == 2 && fixture.origin.requests.last?.value("If-Range") == changed)
    }

    @Test func `a source that changes between ranges arrives whole, as the new version`() async throws {
        let (fixture, new) = (try LoaderFixture(), Array(body.reversed()))
        let file = RangedFile(body)
        fixture.origin.serveOthers { request in
            let answer = file.answer(to: request)
            if request.value("If-Range") == nil { file.become(new, [("ETag", "\"2\"")]) }
            return answer
        }
        let fetched = try await fetch(fixture, to: [200_000])
        #expect(try wholeBytes(fetched) == new)
        #expect(fixture.origin.hits("/a") == 2 && fetched.startedBytes == 65_536 + new.count)
    }

    /// Changes that an origin conceals.
    private enum Lie: CaseIterable { case tag, noTag, total, redirect }

    @Test(arguments: Lie.allCases)
    private func `ranges of two versions are never joined`(lie: Lie) async throws {
        let (fixture, new) = (try LoaderFixture(), Array(body.reversed()) + (lie == .total ? [1] : []))
        let (file, other) = (RangedFile(body), RangedFile(new))
        switch lie {
        case .tag: other.become(new, [("ETag", "\"2\"")])
        case .noTag: other.become(new, [])
        case .total, .redirect: break
        }
        fixture.origin.serveOthers { request in
            guard request.target == "/a" else { return other.answer(to: request) }
            guard request.value("If-Range") != nil else {
                return request.value("Range") == nil ? .image(new) : file.answer(to: request)
            }
            return lie == .redirect ? .redirect(to: "/b") : other.answer(to: request, isLying: true)
        }
        #expect(try wholeBytes(try await fetch(fixture, to: [200_000])) == new)
        #expect(fixture.origin.requests.last?.value("Range") == nil)
    }

    @Test func `more than the limit is an ordinary download, and pointers without end are few ranges`() async throws {
        let fixture = try LoaderFixture()
        let file = serve(fixture, bytes(3_000_000))
        let offsets = Array(stride(from: 0, to: 3_000_000, by: 100_000))
        #expect(try wholeBytes(try await fetch(fixture, to: offsets)).count == 3_000_000)
        #expect(file.requests.count <= 6 && file.requests.last == .some(nil))
        #expect(file.requests.compactMap { $0?.count }.reduce(0, +) <= 128 << 10)
        _ = serve(fixture, bytes(3_000_000))
        #expect(try wholeBytes(try await fetch(fixture, to: offsets, atMost: 1 << 20)).count == 3_000_000)
        #expect(
            fixture.origin.requests.suffix(9).map { $0.value("Range") == nil } == Array(repeating: false, count: 8) + [
                true
            ])
    }

    @Test func `the size limit counts fetched bytes, not those of the file`() async throws {
        let fixture = try LoaderFixture { $0.maximumBytes = 80_000 }
        let file = serve(fixture, body)
        #expect(try partialSource(try await fetch(fixture)).file.count == body.count)
        await #expect(throws: DownloadError.tooLarge) { try await fetch(fixture, to: [9, 150_000, 250_000]) }
        #expect(file.sentBytes - body.count <= 65_536 + 80_000)
        let small = try LoaderFixture { $0.maximumBytes = 10_000 }
        let whole = serve(small, body)
        #expect(try partialSource(try await fetch(small)).file.knownCount == 10_000)
        #expect(whole.requests == [0..<10_000])
    }

    @Test func `each range goes by the redirect again`() async throws {
        let fixture = try LoaderFixture()
        let file = RangedFile(body)
        fixture.origin.serve("/a", .redirect(to: "/b"))
        fixture.origin.serveOthers { file.answer(to: $0) }
        #expect(try partialSource(try await fetch(fixture, to: [200_000])).head.url.hasSuffix("/b"))
        #expect(fixture.origin.hits("/a") == 2 && file.requests.count == 2)
    }

    @Test func `failures of the origin are the failures of the source`() async throws {
        let fixture = try LoaderFixture()
        for (status, error) in [(404, DownloadError.notFound(404)), (500, .status(500)), (403, .status(403))] {
            fixture.origin.serve("/\(status)", .status(status))
            await #expect(throws: error) { try await fetch(fixture, path: "/\(status)") }
            #expect(fixture.origin.hits("/\(status)") == 1)
        }
        fixture.origin.serve("/text", FakeResponse(fields: [("Content-Type", "text/html")], body: body))
        await #expect(throws: DownloadError.notAnImage("text/html")) { try await fetch(fixture, path: "/text") }
    }

    @Test func `with the setting off, and for folders, all of the source is fetched`() async throws {
        let fixture = try LoaderFixture { $0.fetchesRanges = false }
        let file = serve(fixture, body)
        #expect(try wholeBytes(try await fetch(fixture)) == body)
        #expect(file.requests == [nil])
    }

    @Test func `callers for the same part share its ranges, and one for the whole source does not wait`() async throws {
        let (fixture, gate) = (try LoaderFixture(), Gate())
        let file = RangedFile(body)
        fixture.origin.serveOthers { request in
            let answer = file.answer(to: request)
            return request.value("Range") == nil ? answer : answer.held(at: gate)
        }
        let downloader = fixture.downloader()
        let identity = try fixture.rules.identity(of: ExactText(fixture.origin.url("/a")))
        let request = SourceRequest(identity: identity, scan: scan(to: [0]))
        let parts = (0..<3).map { index in
            Task.immediate { try await downloader.downloadNeededBytes(of: request, receipt: "\(index)") }
        }
        await gate.arrivals(1)
        let whole = try await downloader.download(SourceRequest(identity: identity), receipt: "whole")
        #expect(whole.bytes?.array == body)
        gate.open()
        for part in parts { #expect(try await part.value.byteCount == 65_536) }
        #expect(fixture.origin.hits("/a") == 2)
        #expect(try await parts.asyncMap { try await $0.value.startedBytes }.reduce(0, +) == 65_536)
    }

    @Test func `a caller for the whole source joins a fetch whose origin ignores ranges`() async throws {
        let (fixture, gate) = (try LoaderFixture(), Gate())
        fixture.origin.serve("/a", FakeResponse.image(body).held(afterBytes: 100_000, at: gate))
        let downloader = fixture.downloader()
        let identity = try fixture.rules.identity(of: ExactText(fixture.origin.url("/a")))
        let part = Task.immediate {
            try await downloader.downloadNeededBytes(
                of: SourceRequest(identity: identity, scan: scan(to: [0])), receipt: "1")
        }
        await gate.arrivals(1)
        #expect(await eventually { downloader.fetches.first.map { $0.receivedBytes > 0 } ?? false })
        let whole = Task.immediate { try await downloader.download(SourceRequest(identity: identity), receipt: "2") }
        gate.open()
        let joined = try await whole.value
        #expect(joined.bytes?.array == body && joined.participation == .joined)
        #expect(try wholeBytes(try await part.value) == body)
        #expect(fixture.origin.hits("/a") == 1)
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ body: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await body(element)) }
        return values
    }
}
