import HTTPTypes
import Memory
import Recipes
import TestSupport
import Testing

/// `/info` of long files fetches only some ranges of them.
@Suite(.timeLimit(.minutes(2)))
struct PartialFetchTests {
    private static let length = 20_000_000
    private static let filler = [UInt8](repeating: 0xA5, count: length)
    private static let exif = EXIF.block(orientation: 6)

    /// Files of 20 MB, most with metadata after their pixels.
    private static let files: [(name: String, bytes: [UInt8])] = [
        ("jpeg", ImageFixture.jpegOrientation6.array + filler),
        ("progressive", ImageFixture.jpegProgressive.array.dropLast(2) + filler),
        ("png", png(chunkLength: 8_192)), ("png of long chunks", png(chunkLength: 65_536)),
        ("png of one chunk", png(chunkLength: length)), ("webp", webp), ("tiff", tiff), ("avif", avif),
        ("bmp", BMPWriter(.twentyFour).file(ImageFixture.size, UnwrittenImages.quarter) + filler),
        ("svg", UnwrittenImages.svg("width='64' height='48'") + filler),
    ]

    /// The last chunk is shorter.
    private static func png(chunkLength: Int) -> [UInt8] {
        func chunk(_ type: String, _ data: ArraySlice<UInt8>) -> [UInt8] {
            data.count.bigEndian32 + Array(type.utf8) + data + [0, 0, 0, 0]
        }
        var file = Array(ImageFixture.png.array.prefix(33))
        file.reserveCapacity(length + length / 100)
        let pixels = chunk("IDAT", filler.prefix(chunkLength))
        for _ in 0..<length / chunkLength { file += pixels }
        return file + chunk("IDAT", filler.prefix(777)) + chunk("eXIf", exif[...]) + chunk("IEND", [])
    }

    /// The directory is at the end.
    private static let tiff: [UInt8] = {
        let entries = [
            (256, 3, 64), (257, 3, 48), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (274, 3, 6), (277, 3, 1),
            (278, 3, 48), (279, 4, length),
        ]
        let directory = entries.flatMap { tag, type, value in
            tag.littleEndianBytes(2) + type.littleEndianBytes(2) + 1.littleEndianBytes(4) + value.littleEndianBytes(4)
        }
        return Array("II*\0".utf8) + (8 + length).littleEndianBytes(4) + filler + entries.count.littleEndianBytes(2)
            + directory + 0.littleEndianBytes(4)
    }()

    /// The EXIF data is at the end.
    private static let avif: [UInt8] = {
        let image = HEIFWriter.Item.coded(.quarters(ImageFixture.size))
        let other = HEIFWriter.Item(id: 2, type: "data", data: filler)
        let exif = HEIFWriter.Item(id: 3, type: "Exif", data: [0, 0, 0, 0] + Self.exif)
        return HEIFWriter([image, other, exif], primary: 1).file
    }()

    /// The orientation, 6, is after the pixels.
    private static let webp: [UInt8] = {
        func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
            Array(name.utf8) + data.count.littleEndianBytes(4) + data + [UInt8](repeating: 0, count: data.count % 2)
        }
        let header = chunk("VP8X", [0b1000, 0, 0, 0] + 63.littleEndianBytes(3) + 47.littleEndianBytes(3))
        let content = header + ImageFixture.webp.array[12...] + chunk("JUNK", filler) + chunk("EXIF", exif)
        return Array("RIFF".utf8) + (content.count + 4).littleEndianBytes(4) + Array("WEBP".utf8) + content
    }()

    private func info(_ service: RunningService, _ file: RangedFile) async throws -> RawHTTPClient.Response {
        service.origin.serveOthers { file.answer(to: $0) }
        return try await service.send("GET", "/info?url=\(service.origin.url("/a"))&include=exif,rights")
    }

    private func facts(_ answer: RawHTTPClient.Response) -> String {
        answer.text.replacing(#/"url":"[^"]*",/#, with: "")
    }

    @Test(arguments: files.indices)
    func `facts of 20 MB take a few ranges, and are those of the whole file`(index: Int) async throws {
        let (name, bytes) = Self.files[index]
        let formats = ["--source-formats", "jpeg,png,webp,gif,avif,heic,jxl,tiff,bmp,ico,svg", "--max-source-bytes"]
        try await withService(formats + ["64MiB"]) { service in
            let file = RangedFile(bytes)
            let answer = try await info(service, file)
            #expect(answer.status == 200, "\(name): \(answer.text)")
            #expect(file.sentBytes <= 128 << 10 && file.requests.count <= 4, "\(name): \(file.requests)")
            #expect(answer.text.contains("\"bytes\":\(bytes.count)"), "\(name)")
            let again = try await info(service, file)
            #expect(again.text == answer.text && again.headerFields[.cacheStatus] == "alula-source;hit", "\(name)")
            let whole = RangedFile(bytes)
            try await withService(formats + ["64MiB", "--partial-fetch", "off"]) { ordinary in
                let expected = try await info(ordinary, whole)
                #expect(whole.requests == [nil] && facts(expected) == facts(answer), "\(name)")
            }
        }
    }

    @Test func `a thumbnail needs all of the source, which then also has the facts`() async throws {
        try await withService { service in
            let bytes = ImageFixture.jpegOrientation6.array + Self.filler.prefix(300_000)
            let file = RangedFile(bytes)
            let answer = try await info(service, file)
            #expect(file.requests == [0..<65_536])
            #expect(answer.headerFields[.cacheStatus] == "alula-source;fwd=uri-miss;stored")
            let thumbnail = try await service.thumbnail("/a")
            #expect(thumbnail.status == 200)
            #expect(file.requests == [0..<65_536, nil])
            let again = try await info(service, file)
            #expect(again.text == answer.text)
            #expect(file.requests.count == 2)
        }
    }

    @Test func `a stale part is confirmed, and a new version replaces the whole source and its results`() async throws {
        let time = ManualTimekeeper()
        try await withService(time: time) { service in
            let bytes = ImageFixture.jpeg.array + Self.filler.prefix(300_000)
            let file = RangedFile(bytes, [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
            let first = try await info(service, file)
            time.advance(by: .seconds(61))
            let confirmed = try await info(service, file)
            #expect(confirmed.text == first.text && file.sentBytes == 65_536)
            #expect(confirmed.headerFields[.cacheStatus] == "alula-source;fwd=stale;fwd-status=304;stored")
            let thumbnail = try await service.thumbnail("/a")
            #expect(thumbnail.status == 200)
            time.advance(by: .seconds(61))
            let new = ImageFixture.jpegOrientation6.array + Self.filler.prefix(400_000)
            file.become(new, [("ETag", "\"2\""), ("Cache-Control", "max-age=60")])
            let changed = try await info(service, file)
            #expect(changed.text.contains("\"bytes\":\(new.count)") && changed.text.contains("\"etag\":\"\\\"2\\\"\""))
            #expect(file.requests.last == .some(0..<65_536))
            let later = try await service.thumbnail("/a")
            #expect(later.headerFields[.cacheStatus]?.contains("alula-result;fwd=uri-miss") == true)
        }
    }

    @Test func `a stale part answers while its origin fails`() async throws {
        let time = ManualTimekeeper()
        try await withService(time: time) { service in
            let file = RangedFile(
                ImageFixture.jpeg.array + Self.filler.prefix(300_000),
                [("ETag", "\"1\""), ("Cache-Control", "max-age=60")])
            let first = try await info(service, file)
            time.advance(by: .seconds(61))
            service.origin.serve("/a", .status(503))
            let stale = try await info(service, file)
            #expect(stale.status == 200 && stale.text == first.text)
        }
    }

    @Test func `a purge forgets the facts from parts`() async throws {
        try await withService { service in
            let file = RangedFile(ImageFixture.jpeg.array + Self.filler.prefix(300_000))
            _ = try await info(service, file)
            _ = try await service.send("DELETE", "/cache?url=\(service.origin.url("/a"))", to: .admin)
            _ = try await info(service, file)
            #expect(file.requests.count == 2)
            _ = try await service.send("DELETE", "/cache", to: .admin)
            _ = try await info(service, file)
            #expect(file.requests.count == 3)
        }
    }

    @Test func `frames that are counted take all of the file`() async throws {
        try await withService { service in
            let file = RangedFile(ImageFixture.gifAnimated.array.dropLast(1) + Self.filler.prefix(300_000))
            let answer = try await info(service, file)
            #expect(answer.text.contains("\"frames\":3"))
            #expect(file.requests == [0..<65_536, nil])
        }
    }

    @Test func `the first bytes show that a file is no image`() async throws {
        try await withService { service in
            let file = RangedFile([UInt8](repeating: 65, count: 1_000_000))
            for _ in 0..<2 {
                let answer = try await info(service, file)
                #expect(answer.status == 415)
            }
            #expect(file.requests == [0..<65_536])
        }
    }

    @Test func `only the fetched bytes count in metrics`() async throws {
        try await withService { service in
            let file = RangedFile(ImageFixture.jpeg.array + Self.filler.prefix(300_000))
            _ = try await info(service, file)
            let bytes = try await service.metric("alula_download_bytes_total")
            let downloads = try await service.metric("alula_downloads_total")
            #expect(bytes == 65_536 && downloads == 1)
        }
    }
}
