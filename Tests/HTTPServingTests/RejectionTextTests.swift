import HTTPTypes
import Memory
import Testing

@testable import HTTPServing

struct RejectionTextTests {
    @Test func `a rejection's text is a complete response with the server's framing`() {
        let fields: HTTPFields = [
            .contentType: "text/plain", .contentLength: "9", .date: "never", .connection: "keep-alive", .eTag: "a\r\nb",
        ]
        let response = HTTPResponse(status: .requestTimeout, headerFields: fields, body: .text("slow"))
        let lines = [
            "HTTP/1.1 408 Request Timeout", "Date: Sun, 06 Nov 1994 08:49:37 GMT", "Connection: close",
            "Content-Type: text/plain", "Content-Length: 4", "", "slow",
        ]
        let text = String(decoding: RejectionText.bytes(of: response, at: 784_111_777), as: UTF8.self)
        #expect(text == lines.joined(separator: "\r\n"))
    }

    @Test func `a rejection's text has the bytes of every kind of body`() {
        func end(_ body: HTTPResponse.Body) -> String {
            let bytes = RejectionText.bytes(of: HTTPResponse(status: .requestTimeout, body: body), at: 0)
            return String(decoding: bytes.suffix(24), as: UTF8.self)
        }
        #expect(end(.empty).hasSuffix("Content-Length: 0\r\n\r\n"))
        #expect(end(.shared(SharedBytes([0x61]))).hasSuffix("Content-Length: 1\r\n\r\na"))
    }
}
