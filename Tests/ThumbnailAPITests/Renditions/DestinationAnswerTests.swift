import Crypto
import Dialects
import Downloading
import Glibc
import HTTPTypes
import Memory
import Prefetching
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

/// `POST /thumbnails` and jobs that write results to a destination.
@Suite(.timeLimit(.minutes(1)))
struct DestinationAnswerTests {
    private static let key = Array(repeating: UInt8(7), count: 32)
    private let folder = TemporaryFolder()
    private let writable: WritableOrigins

    init() {
        var out = Origin(name: "out", location: .folder(path: folder.path))
        out.isWritable = true
        let read = Origin(name: "read", location: .folder(path: folder.path))
        writable = WritableOrigins(
            DownloadRules(DownloadConfiguration(origins: [out, read])), web: NoLoader(), maximumReads: 8)
    }

    /// A loader for tests that fetch nothing.
    private struct NoLoader: DataLoading {
        func load(
            _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
        ) async throws -> TransferResult { throw DownloadError.notFound(404) }
    }

    private func answer(
        to renditions: String, accept: String = "application/json", isKeyed: Bool = true, isSigned: Bool = true
    ) async -> HTTPResponse {
        let body = Array(#"{"url":"https://h/a","renditions":[\#(renditions)]}"#.utf8)
        var request = SubmissionFixture.request("/thumbnails", [.contentType: "application/json", .accept: accept])
        if isSigned {
            let digest = SharedBytes(body).withBytes { SHA256.hash($0) }
            request.headerFields.append(
                .alulaSignature, BodySignature.sign(request, digest: digest, key: Self.key))
        }
        let listener = PublicListenerFixture(resultWriter: ResultWriter(writable)) {
            if isKeyed { $0.signingKeys = [Self.key] }
        }
        return await listener.submit(request, body)
    }

    private func file(_ name: String) async throws -> [UInt8]? {
        try await writable["out"]?.object(named: name, atMost: 1 << 20)?.array
    }

    @Test func `a result is written to a signed request's destination, and the part has its location`() async throws {
        let response = await answer(to: #"{"name":"hero","query":"w=9","to":"out:x/hero.jpg"},"w=8""#)
        #expect(response.status == .ok)
        let text = await response.received()
        #expect(
            text.hasPrefix(
                #"{"renditions":[{"name":"hero","location":"out:x/hero.jpg","type":"image/jpeg","bytes":7,"width":30,"height":20,"etag":"\"abc\""},{"name":"1","type":"image/jpeg","bytes":7,"#
            ), "\(text)")
        #expect(try await file("x/hero.jpg") == Array("picture".utf8))
        let parts = await answer(to: #"{"query":"w=9","to":"out:b.jpg"}"#, accept: "multipart/mixed").received()
        #expect(parts.contains("Content-Type: application/json\r\nContent-ID: <0>\r\n"))
        #expect(
            parts.contains(
                #"{"location":"out:b.jpg","type":"image/jpeg","bytes":7,"width":30,"height":20,"etag":"\"abc\""}"#))
        #expect(!parts.contains("picture"))
        let archive = await answer(to: #"{"query":"w=9","to":"out:c.jpg"}"#, accept: "application/x-tar").received()
        #expect(archive.hasPrefix("0.json\0"))
    }

    @Test func `without a key no request is signed, so nothing is written`() async throws {
        for (isKeyed, isSigned) in [(false, false), (false, true), (true, false)] {
            let response = await answer(
                to: #""w=8",{"query":"w=9","to":"out:n.jpg"}"#, isKeyed: isKeyed, isSigned: isSigned)
            #expect(response.status == .forbidden && response.text.contains("bad_signature"))
        }
        #expect(try await file("n.jpg") == nil)
    }

    @Test(arguments: [
        (#"{"query":"w=9","to":"read:a"}"#, 403, "origin_not_writable"),
        (#"{"query":"w=9","to":"none:a"}"#, 403, "origin_not_writable"),
        (#"{"query":"w=9","to":"https://h/a"}"#, 403, "origin_not_writable"),
        (#"{"query":"w=9","to":"out:../a"}"#, 400, "/renditions/0/to"),
        (#"{"query":"w=9","to":"out:alula-1/v/a"}"#, 400, "/renditions/0/to"),
        (#"{"query":"w=9","to":1}"#, 400, "/renditions/0/to"),
        (#"{"include":"","to":"out:a"}"#, 400, "/renditions/0/to"),
        (#"{"query":"w=9","to":"out:a"},{"query":"w=8","to":"out:a"}"#, 400, "Another rendition has this destination"),
        (#"{"query":"w=9","to":"out:a"},{"query":"w=8","to":"out:/a"}"#, 400, "Another rendition has this destination"),
        (#"{"query":"w=9","to":"out:taken"}"#, 502, "destination_failed"),
    ])
    func `a destination's failure is reported, and fails alone if other renditions succeed`(
        rendition: String, status: Int, word: String
    ) async throws {
        folder.write("taken/file", [1])
        let response = await answer(to: rendition, accept: "multipart/mixed")
        let text = await response.received()
        #expect(response.status.code == status && text.contains(word), "\(response.status.code) \(text)")
        guard status != 400 else { return }
        let both = await answer(to: rendition + #","w=5""#, accept: "multipart/mixed")
        let parts = await both.received()
        #expect(both.status == .ok && parts.contains(word) && parts.contains("picture"))
    }

    @Test func `a job is stored with its destinations, and validated again when it resumes`() throws {
        let reader = PrefetchReader(APIConfiguration().nativeDialect, placing: ResultWriter(writable))
        func job(_ renditions: String) throws -> [PrefetchItem] {
            try reader.job(
                in: HTTPRequest(
                    method: .post, target: "/prefetch", headerFields: SubmissionFixture.json,
                    body: SharedBytes(#"{"sources":[{"url":"http://h/a","renditions":[\#(renditions)]}]}"#.utf8))
            ).items
        }
        let items = try job(#"{"query":"w=1","to":"out:/x y/a.jpg"},"w=2""#)
        #expect(items.map(\.destination) == ["out:x y/a.jpg", nil])
        #expect(items.map { reader.work(of: $0)?.destination?.location } == ["out:x y/a.jpg", nil])
        #expect(reader.work(of: items[0])?.request.nativeOptions?.width == 1)
        #expect(reader.work(of: PrefetchItem(items[0].target, to: "read:a")) == nil)
        for (renditions, code) in [
            (#"{"query":"w=1","to":"read:a"}"#, "origin_not_writable"), (#"{"query":"w=1","to":"out:a/"}"#, "bad_body"),
            (#"{"query":"w=1","to":"out:a"},{"query":"w=2","to":"out:/a"}"#, "bad_body"),
        ] {
            let error = #expect(throws: APIError.self) { try job(renditions) }
            #expect(error?.code == code)
        }
    }
}
