import Foundation
import Testing

@testable import AlulaClient

/// Multipart bodies, lifetimes and errors.
struct PartsAndBoundsTests {
    @Test func `errors describe the failure, its reason and a remedy`() {
        let problem = Problem(
            title: "Bad Request", status: 400, detail: "Unknown parameter “widht”.", code: "bad_parameter",
            parameter: "widht", allowed: nil, nearest: "width", upstreamStatus: nil, requestID: "7")
        let errors: [(ClientError, String?, String?, String?)] = [
            (
                .problem(problem, retryAfter: nil), problem.detail,
                "The service answered 400, bad_parameter, because of “widht”.", "Use “width” instead."
            ),
            (
                .problem(problem, retryAfter: .milliseconds(10)), problem.detail,
                "The service answered 400, bad_parameter, because of “widht”.", "Try again in a second."
            ),
            (
                .unexpected(status: 502, mediaType: nil),
                "The response is not from the thumbnail service: status 502, type unknown.", nil, "Try again later."
            ),
            (
                .invalidSigningKey, "The signing key is invalid.",
                "A key has at least 64 hexadecimal digits, which are 32 bytes; its ID is up to 64 letters, digits and marks.",
                nil
            ),
            (.unreadableFile(URL(filePath: "/a/b.jpg")), "The file “b.jpg” cannot be read.", nil, nil),
        ]
        for (error, description, reason, suggestion) in errors {
            // As apps see it, without the concrete type.
            #expect((error as any Error).localizedDescription == description)
            #expect(error.failureReason == reason && error.recoverySuggestion == suggestion)
        }
        #expect((ClientError.cancelled as any Error).localizedDescription == "The request was canceled.")
    }

    @Test(arguments: [
        (ClientError.transport(URLError(.timedOut)), true), (.transport(URLError(.badURL)), false),
        (.unexpected(status: 502, mediaType: nil), true), (.unexpected(status: 404, mediaType: nil), false),
        (.tooLarge, false), (.cancelled, false), (.undecodable(mediaType: "image/jxl"), false),
    ])
    func `only temporary errors are transient`(error: ClientError, isTransient: Bool) {
        #expect(error.isTransient == isTransient)
    }

    @Test(arguments: [1, 2, 3, 7, 64, 1_000])
    func `a multipart body is parsed alike in any pieces`(size: Int) throws {
        var reader = try #require(MultipartReader(mediaType: "multipart/mixed; boundary=\"b\""))
        let content = "\r\n--a\r\n--\0\r\n\r\n"
        let body = Data(
            "--b\r\nContent-ID: <x>\r\nContent-Type: image/png\r\n\r\n\(content)\r\n--b\r\n\r\n\r\n--b--\r\nend".utf8)
        var parts: [MultipartReader.Part] = []
        for start in stride(from: 0, to: body.count, by: size) {
            parts += try reader.read(body[start..<min(start + size, body.count)])
        }
        #expect(
            parts == [
                MultipartReader.Part(
                    lines: ["Content-ID: <x>", "Content-Type: image/png"], content: Data(content.utf8)),
                MultipartReader.Part(lines: [], content: Data()),
            ])
        #expect(parts.first?.field("content-type") == "image/png" && parts.first?.field("Content") == nil)
        #expect(reader.isComplete)
        #expect(MultipartReader(mediaType: "image/png; boundary=b") == nil)
        #expect(MultipartReader(mediaType: "multipart/mixed") == nil)
    }

    @Test(arguments: ["--b\r\n\r\n", ""])
    func `an overlong part without an end is rejected, and so is a preamble`(start: String) throws {
        var reader = try #require(MultipartReader(mediaType: "multipart/mixed; boundary=b", longestPart: 1_000))
        #expect(try reader.read(Data(start.utf8)).isEmpty)
        for _ in 0..<9 { #expect(try reader.read(Data(count: 100)).isEmpty) }
        #expect(throws: ClientError.self) { for _ in 0..<2 { _ = try reader.read(Data(count: 100)) } }
    }

    @Test func `an overlong part is rejected although it arrives at once`() throws {
        var reader = try #require(MultipartReader(mediaType: "multipart/mixed; boundary=b", longestPart: 10))
        #expect(throws: ClientError.self) { try reader.read(Data("--b\r\n\r\n0123456789\r\n--b--".utf8)) }
    }

    @Test(
        arguments: [
            (["Cache-Control": "public, max-age=60"], 60), (["Cache-Control": "max-age=60", "Age": "20"], 40),
            (["Cache-Control": "max-age=60", "Age": "-9223372036854775808"], 60),
            (["Cache-Control": "max-age=-9223372036854775808", "Age": "1"], 0),
            (["Cache-Control": "max-age=60, no-cache"], 0), ([:], 0),
            // A response that the session's cache has kept for 50 seconds.
            (["Cache-Control": "max-age=60", "Date": "Thu, 01 Jan 1970 00:16:40 GMT"], 10),
            (["Cache-Control": "max-age=60", "Date": "Thu, 01 Jan 1970 01:00:00 GMT"], 60),
            (["Cache-Control": "max-age=60", "Date": "yesterday"], 60),
        ] as [([String: String], Int)])
    func `an image is fresh for the service's lifetime, minus its age`(fields: [String: String], seconds: Int) {
        let thumbnail = Thumbnail(data: Data(), now: Date(timeIntervalSince1970: 1_050)) { fields[$0] }
        #expect(thumbnail.lifetime == .seconds(seconds))
    }
}
