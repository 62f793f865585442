import Coordination
import HTTPTypes
import Memory
import TestSupport
import Testing

@testable import Downloading

/// Sources with a content coding that was not requested.
@Suite(.timeLimit(.minutes(1)))
struct ContentCodingTests {
    private let image = ImageFixture.jpeg.array

    @Test(arguments: ["gzip", "x-gzip", "GZIP", "deflate", "raw deflate", "br", "br, gzip", "utf-8, gzip"])
    func `a source in any content coding is decoded`(coding: String) async throws {
        let fixture = try LoaderFixture()
        let codings = coding == "raw deflate" ? "deflate" : coding
        fixture.origin.serve("/a", .image(Coded.by(coding, image)).with("Content-Encoding", codings))
        fixture.origin.serve("/plain", .image(image))
        let progress = TransferProgress()
        let source = try await fixture.load("/a", progress: progress)
        #expect(source.bytes.array == image && progress.receivedBytes == image.count)
        #expect(try await fixture.load("/plain").validator == source.validator)
        #expect(fixture.origin.requests.first?.value("Accept-Encoding") == "identity")
    }

    @Test(arguments: ["identity", "aws-chunked", "utf-8", "none"])
    func `an unknown coding name changes nothing`(word: String) async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .image(image).with("Content-Encoding", word))
        #expect(try await fixture.load("/a").bytes.array == image)
    }

    @Test(arguments: [64 << 20, 257 << 10])
    func `decoded bytes count toward the size limit of a source`(count: Int) async throws {
        let fixture = try LoaderFixture { $0.maximumBytes = 256 << 10 }
        fixture.origin.serve("/a", .image(Zlib.zeros(count / 256)).with("Content-Encoding", "deflate"))
        fixture.origin.serve("/b", .image(Zlib.zeros(count)).with("Content-Encoding", "deflate"))
        #expect(try await fixture.load("/a").bytes.count == count / 256)
        await #expect(throws: DownloadError.tooLarge) { try await fixture.load("/b") }
    }

    @Test func `decoded bytes count toward the memory budget`() async throws {
        let fixture = try LoaderFixture()
        fixture.origin.serve("/a", .image(Zlib.zeros(8 << 20)).with("Content-Encoding", "deflate"))
        let progress = TransferProgress()
        let budget = MemoryBudget(limit: 1 << 20)
        progress.replaceReservation(with: try budget.reserveNow(1, for: .arrival))
        await #expect(throws: DownloadError.memoryFull) { try await fixture.load("/a", progress: progress) }
    }

    @Test(arguments: ["gzip", "deflate", "br"])
    func `a body that contradicts its coding cannot be decoded`(coding: String) async throws {
        let fixture = try LoaderFixture()
        let coded = Coded.by(coding, image)
        for body in [image, Array(coded.dropLast(9)), Array(coded.prefix(1)), Array(repeating: 0xff, count: 100)] {
            fixture.origin.serve("/a", .image(body).with("Content-Encoding", coding))
            let error = await #expect(throws: DownloadError.self) { try await fixture.load("/a") }
            guard case .undecodable? = error else {
                Issue.record("\(coding) of \(body.count) bytes: \(String(describing: error))")
                continue
            }
        }
    }

    @Test func `gzip may have members, and trailing bytes are ignored`() async throws {
        let fixture = try LoaderFixture()
        let body = Coded.by("gzip", Array(image.prefix(100))) + Coded.by("gzip", Array(image.dropFirst(100))) + [1, 2]
        fixture.origin.serve("/a", .image(body).with("Content-Encoding", "gzip"))
        #expect(try await fixture.load("/a").bytes.array == image)
    }

    @Test(arguments: [4_095, 4_097])
    func `gzip members are limited`(count: Int) async throws {
        let fixture = try LoaderFixture()
        let empty = Coded.by("gzip", [])
        let body = (0..<count - 1).flatMap { _ in empty } + Coded.by("gzip", image)
        fixture.origin.serve("/a", .image(body).with("Content-Encoding", "gzip"))
        let source = try? await fixture.load("/a")
        #expect(source?.bytes.array == (count < 4_096 ? image : nil))
    }

    @Test func `a decoder's window counts toward the memory budget`() throws {
        let progress = TransferProgress()
        let budget = MemoryBudget(limit: 2 << 20)
        progress.replaceReservation(with: try budget.reserveNow(1, for: .arrival))
        try progress.receive(1 << 20)
        #expect(throws: DownloadError.memoryFull) { try progress.receive(1, window: 1 << 20) }
    }

    @Test func `a body that decodes slowly delays no other`() async throws {
        let decoder = BodyDecoder()
        defer { decoder.shutDown() }
        let request = TransferRequest(identity: SourceIdentity(url: try SourceURL(parsing: "http://h/a")))
        let ended = Locked<[Int]>([])
        func decode(_ count: Int, _ progress: TransferProgress) -> Task<Void, any Error> {
            let date = HTTPDate(secondsSince1970: 0)
            let head = SourceHead(
                identity: request.identity, validator: .digest(""), headerFields: HTTPFields(), requestedAt: date,
                receivedAt: date)
            let source = ReceivedSource(
                head: head, bytes: SharedBytes(Zlib.zeros(count)), timings: TransferTimings(), codings: [.deflate])
            return Task {
                let whole = try await decoder.decode(source, for: request, progress: progress)
                ended.withLock { $0.append(whole.bytes.count) }
            }
        }
        let gate = ThreadGate()
        let progress = TransferProgress()
        progress.watch(every: .zero, by: SystemTimekeeper()) { gate.pass() }
        let long = decode(60 << 20, progress)
        await gate.arrivals(1)
        let short = decode(1_000, TransferProgress())
        try #require(await eventually { decoder.waitingCount == 1 })
        gate.open()
        try await short.value
        try await long.value
        #expect(ended.withLock { $0 } == [1_000, 60 << 20])
    }

    @Test func `a 206 with the whole source is the source`() async throws {
        let fixture = try LoaderFixture()
        let range = "bytes 0-\(image.count - 1)/\(image.count)"
        let whole = FakeResponse(
            status: 206, fields: [("Content-Range", range), ("Content-Type", "image/jpeg")], body: image)
        fixture.origin.serve("/a", whole)
        fixture.origin.serve("/chunked", whole.framed(by: .chunked))
        for path in ["/a", "/chunked"] {
            let source = try await fixture.load(path)
            #expect(source.bytes.array == image && source.head.status == 200)
        }
        let short = FakeResponse(status: 206, fields: [("Content-Range", range)], body: image.dropLast())
        fixture.origin.serve("/short", short.framed(by: .chunked))
        let error = await #expect(throws: DownloadError.self) { try await fixture.load("/short") }
        #expect(error.map(isProtocolError) == true)
    }
}

/// Encodes bytes without compressing them.
private enum Coded {
    static func by(_ codings: String, _ bytes: [UInt8]) -> [UInt8] {
        codings.split(separator: ", ").reduce(bytes) { bytes, coding in
            switch coding.lowercased() {
            case "gzip", "x-gzip":
                [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff] + Zlib.stored(bytes).dropFirst(2).dropLast(4)
                    + Zlib.checksum32(bytes).littleEndian32 + bytes.count.littleEndian32
            case "deflate": Zlib.stored(bytes)
            case "raw deflate": Array(Zlib.stored(bytes).dropFirst(2).dropLast(4))
            case "br": brotli(bytes)
            default: bytes
            }
        }
    }

    /// Uncompressed Brotli blocks (RFC 7932 section 9.2).
    private static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        precondition((1...65_536).contains(bytes.count), "one block holds no more")
        let header = 0xb | (bytes.count - 1) << 7 | 1 << 23
        return [UInt8(header & 255), UInt8(header >> 8 & 255), UInt8(header >> 16)] + bytes + [0x03]
    }
}
