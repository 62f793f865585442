import Dialects
import HTTPTypes
import Memory
import Recipes
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import ThumbnailAPI

struct RenditionArchiveTests {
    private static let image = RenditionArchive.Part.image(
        Thumbnail(
            RenderedImage(.sample(.webp), eTag: "\"t\"", cacheStatus: []), lastModified: nil, freshness: Freshness()))

    private func text(_ archive: RenditionArchive, _ part: RenditionArchive.Part, _ name: String) -> [UInt8] {
        archive.pieces(of: part, named: name, at: 0o17).flatMap(\.array)
    }

    @Test(
        arguments: [
            (nil, .multipart), ("*/*", .multipart), ("application/x-tar", .tar),
            ("multipart/mixed, application/x-tar", .multipart), ("multipart/mixed;q=0.5, application/x-tar", .tar),
            ("application/*, multipart/mixed;q=0.9", .tar), ("image/webp", .multipart),
            ("application/x-tar;q=0", .multipart), ("application/json", .json),
            ("application/json, text/plain, */*", .json), ("application/json;q=0.5, */*;q=0.6", .multipart),
            ("application/json, application/x-tar", .tar), ("application/json;q=0", .multipart),
        ] as [(String?, RenditionForm)])
    func `the preferred form is used`(accept: String?, form: RenditionForm) {
        #expect(RenditionForm(accept: accept) == form)
    }

    @Test func `a part of a multipart body has its type, entity tag, name and length`() throws {
        let archive = RenditionArchive(isTar: false)
        let boundary = try #require(archive.mediaType.split(separator: "=").last.map(String.init))
        #expect(archive.mediaType == "multipart/mixed; boundary=\(boundary)" && boundary.utf8.count >= 20)
        #expect(
            String(decoding: text(archive, Self.image, "hero"), as: UTF8.self)
                == "--\(boundary)\r\nContent-Type: image/webp\r\nETag: \"t\"\r\nContent-ID: <hero>\r\n"
                + "Content-Length: 7\r\n\r\npicture\r\n")
        #expect(archive.end.array == Array("--\(boundary)--\r\n".utf8))
        let problem = Problem(APIError.draining, requestID: "r", common: [:])
        let text = String(decoding: text(archive, .problem(problem), "0"), as: UTF8.self)
        #expect(text.contains("Content-Type: application/problem+json") && text.contains(#""status":503"#))
        #expect(!text.contains("ETag"))
    }

    @Test func `a member of a tar archive is a block with a valid checksum, and its content in whole blocks`() {
        let archive = RenditionArchive(isTar: true)
        let bytes = text(archive, Self.image, "hero")
        #expect(bytes.count == 1_024)
        #expect(String(decoding: bytes[..<9], as: UTF8.self) == "hero.webp" && bytes[9] == 0)
        #expect(String(decoding: bytes[124..<135], as: UTF8.self) == "00000000007")
        #expect(String(decoding: bytes[136..<147], as: UTF8.self) == "00000000017")
        #expect(String(decoding: bytes[257..<262], as: UTF8.self) == "ustar")
        let sum = bytes[..<512].enumerated().reduce(0) { $0 + (148..<156 ~= $1.offset ? 32 : Int($1.element)) }
        #expect(Int(String(decoding: bytes[148..<154], as: UTF8.self), radix: 8) == sum)
        #expect(Array(bytes[512..<519]) == Array("picture".utf8) && bytes[519...].allSatisfy { $0 == 0 })
        #expect(archive.end.count == 1_024)
    }

    @Test func `a long name has its own header`() {
        let name = String(repeating: "n", count: 128)
        let bytes = text(RenditionArchive(isTar: true), Self.image, name)
        #expect(bytes.count == 2_048 && bytes[156] == UInt8(ascii: "x"))
        #expect(String(decoding: bytes[512..<657], as: UTF8.self) == "143 path=\(name).webp\n\0\0")
        #expect(bytes[1_024 + 156] == UInt8(ascii: "0"))
    }
}
