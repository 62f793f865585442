import HTTPTypes
import Testing

@testable import Downloading

struct ResponseHeadReaderTests {
    @Test func `a head is read field by field`() throws {
        let head = try #require(try read("HTTP/1.1 200 OK", "Content-Type:  image/png \t", "X-A: é", "Empty:", ""))
        #expect(head.status == 200)
        #expect(head.fields.values(of: .contentType) == ["image/png"])
        #expect(head.fields.count == 3)
        #expect(head.contentLength == nil)
    }

    @Test func `interim responses are skipped`() throws {
        let head = try read(
            "HTTP/1.1 103 Early", "Link: x", "", "HTTP/1.1 100 Continue", "", "HTTP/1.0 404 No", "A: b", "")
        #expect(head?.status == 404)
        #expect(head?.fields.count == 1)
    }

    @Test func `equal lengths count once`() throws {
        #expect(try read("HTTP/1.1 200 OK", "Content-Length: 5", "content-length: 5", "")?.contentLength == 5)
    }

    @Test(arguments: [
        ["HTTP/1.1 000 Zero", ""], ["HTTP/1.1 999 Nine", ""], ["HTTP/1.1 600 Six", ""], ["HTTP/2 200 OK", ""],
        ["HTTP/1.1 20x OK", ""], ["HTTP/1.1 2000 OK", ""], ["ICY 200 OK", ""],
        ["HTTP/1.1 200 OK", "Folded: a", " b", ""], ["HTTP/1.1 200 OK", " Early: a", ""],
        ["HTTP/1.1 200 OK", "No colon", ""], ["HTTP/1.1 200 OK", "Space : a", ""], ["HTTP/1.1 200 OK", ": a", ""],
        ["HTTP/1.1 200 OK", "A: b\0c", ""], ["HTTP/1.1 200 OK", "A: b\rc", ""],
        ["HTTP/1.1 200 OK", "Content-Length: 5", "Content-Length: 6", ""],
        ["HTTP/1.1 200 OK", "Content-Length: -5", ""], ["HTTP/1.1 200 OK", "Content-Length: +5", ""],
        ["HTTP/1.1 200 OK", "Content-Length: 5, 5", ""], ["HTTP/1.1 200 OK", "Content-Length:", ""],
        ["HTTP/1.1 200 OK", "Content-Length: 99999999999999999999", ""],
        ["HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked", ""],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", ""],
        ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", ""],
        ["HTTP/1.1 101 Switching", ""],
        ["HTTP/1.1 200 OK"] + Array(repeating: "A: b", count: 101),
        ["HTTP/1.1 200 OK", "A: " + String(repeating: "b", count: 64 << 10), ""],
        Array(repeating: ["HTTP/1.1 100 Continue", ""], count: 9).flatMap { $0 },
    ])
    func `invalid HTTP is rejected`(lines: [String]) {
        #expect {
            _ = try read(lines)
        } throws: { error in
            if case .protocolError? = error as? DownloadError { true } else { false }
        }
    }

    @Test func `trailer fields count toward the limit and change nothing`() throws {
        var reader = ResponseHeadReader()
        for line in ["HTTP/1.1 200 OK\r\n", "A: b\r\n", "\r\n"] { _ = try reader.read(Array(line.utf8).span) }
        for _ in 0..<99 {
            let head = try reader.read(Array("Content-Length: 7\r\n".utf8).span)
            #expect(head == nil)
        }
        #expect(throws: DownloadError.self) { _ = try reader.read(Array("T: x\r\n".utf8).span) }
    }
}

private func read(_ lines: String...) throws -> ResponseHead? { try read(lines) }

private func read(_ lines: [String]) throws -> ResponseHead? {
    var reader = ResponseHeadReader()
    for line in lines {
        if let head = try reader.read(Array((line + "\r\n").utf8).span) { return head }
    }
    return nil
}
