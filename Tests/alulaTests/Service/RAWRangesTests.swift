import HTTPTypes
import Imaging
import Memory
import Recipes
import TestSupport
import Testing

/// Thumbnails of long RAW photographs fetch only previews and some ranges.
@Suite(.timeLimit(.minutes(2)))
struct RAWRangesTests {
    private static let size = PixelSize(width: 640, height: 480)
    private static let tail = [UInt8](repeating: 0xA5, count: 500_000)
    /// Longer than the first range.
    private static let preview = ImageFixture.file(.quarters(size), as: .jpeg) + tail
    private static let options = ["--source-formats", "jpeg,png,raw", "--max-source-bytes", "64MiB"]
    private static let fields = [("ETag", "\"1\""), ("Cache-Control", "max-age=60")]

    /// A file of 30 MB, upright or rotated.
    private static func file(
        _ kind: RAWWriter.Kind = .nef, orientation: Int = 1, _ preview: [UInt8] = preview
    ) -> [UInt8] {
        var writer = RAWWriter(kind, preview)
        (writer.orientation, writer.gap) = (orientation, 14_750_000)
        return writer.file
    }

    private func serve(_ service: RunningService, _ file: RangedFile) {
        service.origin.serveOthers { file.answer(to: $0) }
    }

    @Test(arguments: RAWWriter.Kind.allCases)
    func `a thumbnail of 30 MB takes the preview, and is that of the whole file`(kind: RAWWriter.Kind) async throws {
        let bytes = Self.file(kind, orientation: 6)
        let path = "/a.\(kind.rawValue)"
        try await withService(Self.options) { service in
            let file = RangedFile(bytes, Self.fields)
            serve(service, file)
            let answer = try await service.thumbnail(path, "w=96")
            #expect(answer.status == 200, "\(answer.text)")
            let fetches = file.requests.count
            #expect(file.sentBytes <= Self.preview.count + 128 << 10, "\(file.requests)")
            #expect(fetches <= 4 && !file.requests.contains(nil), "\(file.requests)")
            let small = try await service.thumbnail(path, "w=90")
            #expect(small.status == 200)
            let again = try await service.thumbnail(path, "w=96")
            #expect(again.body == answer.body)
            let facts = try await service.send("GET", "/info?url=\(service.origin.url(path))")
            #expect(facts.text.contains("\"format\":\"raw\"") && facts.text.contains("\"bytes\":\(bytes.count)"))
            #expect(file.requests.count == fetches)
            try await withService(Self.options + ["--partial-fetch", "off"]) { ordinary in
                let whole = RangedFile(bytes, Self.fields)
                serve(ordinary, whole)
                let expected = try await ordinary.thumbnail(path, "w=96")
                #expect(whole.requests == [nil] && expected.body == answer.body)
                #expect(expected.headerFields[.eTag] == answer.headerFields[.eTag])
            }
        }
    }

    @Test func `a date names the version where there is no entity tag`() async throws {
        let time = ManualTimekeeper()
        let (now, bytes) = (time.secondsSince1970, Self.file())
        let dates = [("Date", HTTPDate(secondsSince1970: now)), ("Last-Modified", HTTPDate(secondsSince1970: now - 9))]
        let fields = dates.map { ($0, $1.imfFixdate) } + [("Cache-Control", "max-age=60")]
        try await withService(Self.options, time: time) { service in
            let file = RangedFile(bytes, fields)
            serve(service, file)
            let answer = try await service.thumbnail("/a.nef", "w=96")
            #expect(answer.status == 200, "\(answer.text)")
            let other = try await service.thumbnail("/a.nef", "w=90")
            #expect(other.status == 200)
            #expect(file.sentBytes <= Self.preview.count + 128 << 10 && !file.requests.contains(nil))
            // Another image of the same second, whose file has the same first range.
            let gray = ImageFixture.file(.plain(Self.size, [90, 90, 90]), as: .jpeg) + Self.tail
            let padding = [UInt8](repeating: 0, count: Self.preview.count - gray.count)
            file.become(Self.file(.nef, gray + padding), fields)
            time.advance(by: .seconds(61))
            let later = try await service.thumbnail("/a.nef", "w=96")
            #expect(later.status == 200 && later.body != answer.body && !file.requests.contains(nil))
        }
    }

    @Test func `renditions and facts about pixels take the preview alone, stored or not`() async throws {
        let body = #"{"url":"URL","renditions":["w=96",{"name":"facts","include":"color"}]}"#
        for control in ["max-age=60", "no-store"] {
            try await withService(Self.options) { service in
                let file = RangedFile(Self.file(), [("ETag", "\"1\""), ("Cache-Control", control)])
                serve(service, file)
                let list = body.replacing("URL", with: service.origin.url("/a.nef"))
                let client = try service.connect()
                defer { client.close() }
                client.send(
                    "POST /thumbnails HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
                        + "Content-Length: \(list.utf8.count)\r\n\r\n\(list)")
                let answer = try await client.response(isHead: true)
                var text = ""
                while answer.status == 200, !text.hasSuffix("0\r\n\r\n") {
                    text += String(decoding: try await client.bytes(1), as: UTF8.self)
                }
                #expect(text.contains("data:image/jpeg") && text.contains("\"bytes\":\(Self.file().count)"), "\(text)")
                let color = try await service.send(
                    "GET", "/info?include=color&url=\(service.origin.url("/b.nef"))")
                #expect(color.status == 200 && color.text.contains("\"dominantColor\":\"#"), "\(color.text)")
                #expect(file.sentBytes <= 2 * (Self.preview.count + 128 << 10) && !file.requests.contains(nil))
            }
        }
    }

    @Test func `after facts from ranges, a thumbnail needs only the preview`() async throws {
        try await withService(Self.options) { service in
            let file = RangedFile(Self.file(), Self.fields)
            serve(service, file)
            _ = try await service.send("GET", "/info?url=\(service.origin.url("/a"))")
            let answer = try await service.thumbnail("/a")
            #expect(answer.status == 200)
            #expect(file.sentBytes <= Self.preview.count + 256 << 10 && !file.requests.contains(nil))
        }
    }

    @Test func `an origin without ranges or entity tags sends the file once`() async throws {
        try await withService(Self.options) { service in
            service.origin.serve("/a.nef", .image(Self.file()))
            let answer = try await service.thumbnail("/a.nef")
            #expect(answer.status == 200)
            #expect(service.origin.hits("/a.nef") == 1)
            let file = RangedFile(Self.file(), [])
            serve(service, file)
            let other = try await service.thumbnail("/b.nef")
            #expect(other.status == 200)
            #expect(file.requests == [0..<65_536, nil])
        }
    }

    @Test func `a JPEG file named like a photograph is fetched as a whole`() async throws {
        try await withService(Self.options) { service in
            let file = RangedFile(Self.preview, Self.fields)
            serve(service, file)
            let answer = try await service.thumbnail("/a.nef")
            #expect(answer.status == 200)
            #expect(file.requests == [0..<65_536, nil])
        }
    }

    @Test func `a file that changes between ranges is the new one`() async throws {
        try await withService(Self.options) { service in
            let file = RangedFile(Self.file(), Self.fields)
            let new = Self.file(orientation: 6)
            service.origin.serveOthers { request in
                if file.requests.count == 1 { file.become(new, [("ETag", "\"2\""), ("Cache-Control", "max-age=60")]) }
                return file.answer(to: request)
            }
            let answer = try await service.thumbnail("/a.nef", "w=96")
            #expect(answer.status == 200)
            let image = try ImageReading.decode(SharedBytes(answer.body))
            #expect(image.size == PixelSize(width: 96, height: 128))
            let facts = try await service.send("GET", "/info?url=\(service.origin.url("/a.nef"))")
            #expect(facts.text.contains("\"etag\":\"\\\"2\\\"\""))
        }
    }

    @Test func `a stale preview is confirmed, and a new version replaces it`() async throws {
        let time = ManualTimekeeper()
        try await withService(Self.options, time: time) { service in
            let file = RangedFile(Self.file(), Self.fields)
            serve(service, file)
            let first = try await service.thumbnail("/a.nef", "w=96")
            let sentBytes = file.sentBytes
            time.advance(by: .seconds(61))
            let confirmed = try await service.thumbnail("/a.nef", "w=96")
            #expect(confirmed.body == first.body)
            #expect(file.sentBytes == sentBytes)
            time.advance(by: .seconds(61))
            file.become(Self.file(orientation: 6), [("ETag", "\"2\""), ("Cache-Control", "max-age=60")])
            let changed = try await service.thumbnail("/a.nef", "w=96")
            #expect(changed.body != first.body && !file.requests.contains(nil))
        }
    }
}
