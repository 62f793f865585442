import Dialects
import Memory
import Testing
import Text

@testable import ThumbnailAPI

struct MultipartFormTests {
    private static func form(_ parts: [String], end: String = "--b--\r\n") -> [UInt8] {
        Array((parts.map { "--b\r\n\($0)\r\n" }.joined() + end).utf8)
    }

    private static let field = "Content-Disposition: form-data; name=\"a\"\r\n\r\nvalue"

    private func parts(_ body: [UInt8]) throws -> [(ExactText, Bool, String)] {
        try MultipartForm(SharedBytes(body), boundary: "b").parts.map {
            ($0.name, $0.isFile, String(decoding: body[$0.content], as: UTF8.self))
        }
    }

    @Test func `fields and files are found with their contents`() throws {
        let file =
            "content-disposition: form-data; filename=\"x;y.jpg\"; name=file\r\nContent-Type: image/jpeg\r\n\r\n\r\n--c\r\n"
        let parts = try parts(Self.form([Self.field, file]))
        #expect(parts.map(\.0) == ["a", "file"] && parts.map(\.1) == [false, true])
        #expect(parts.map(\.2) == ["value", "\r\n--c\r\n"])
    }

    @Test(arguments: [("", "\r\n"), ("preamble", "epilogue"), ("a\r\n--\r\nb\r\n--c", "\r\n--b\r\nc"), ("\r\n", " ")])
    func `bytes before and after the form are ignored`(preamble: String, epilogue: String) throws {
        let form = Self.form([Self.field], end: "--b-- \t\r\n\(epilogue)")
        #expect(try parts(Array("\(preamble)\r\n".utf8) + form).map(\.2) == ["value"])
        #expect(try parts(form).map(\.2) == ["value"])
    }

    @Test func `a content may be empty, and may contain a boundary's lookalike`() throws {
        let empty = "Content-Disposition: form-data; name=\"a\"\r\n\r\n"
        let similar = empty + "x\r\n-\r\n--\r\n--\r--b"
        #expect(try parts(Self.form([empty, similar])).map(\.2) == ["", "x\r\n-\r\n--\r\n--\r--b"])
    }

    @Test(
        arguments: [
            "", "x", "--b", "--b\r\n", "--c\r\n", "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nno end",
            "--b\r\nno header end\r\n--b--", "--b\r\nContent-Type: a/b\r\n\r\nnameless\r\n--b--",
            "--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--", "--bX\r\n\r\n--b--",
            "preamble\r\n--", "preamble--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx",
            "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b-- epilogue",
        ])
    func `anything else is rejected`(body: String) {
        #expect(throws: APIError.self) { try MultipartForm(SharedBytes(Array(body.utf8)), boundary: "b") }
    }

    @Test func `a form has few fields with short headers`() throws {
        #expect(try parts(Self.form(Array(repeating: Self.field, count: 16))).count == 16)
        #expect(throws: APIError.self) { try parts(Self.form(Array(repeating: Self.field, count: 17))) }
        let long = "X: \(String(repeating: "x", count: 5_000))\r\n" + Self.field
        #expect(throws: APIError.self) { try parts(Self.form([long])) }
    }

    @Test(
        arguments: [
            ("multipart/form-data; boundary=abc", "abc"),
            ("Multipart/Form-Data;charset=utf-8; Boundary=\"a b\"", "a b"),
            ("multipart/form-data; boundary=\"a b \"", nil), ("multipart/form-data; boundary=a b", nil),
            ("multipart/form-data; boundary=\"a\\b c\"", "ab c"),
            ("multipart/form-data; boundary=\"a;b\"", "a;b"), ("multipart/form-data", nil),
            ("multipart/form-data; boundary=", nil), ("multipart/mixed; boundary=a", nil), ("text/plain", nil),
            ("multipart/form-data; boundary=\(String(repeating: "x", count: 71))", nil),
        ] as [(String, String?)])
    func `the boundary is in the content type`(type: String, boundary: String?) {
        #expect(MultipartForm.boundary(in: type) == boundary)
    }
}
