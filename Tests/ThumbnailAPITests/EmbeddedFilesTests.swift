import Glibc
import HTTPTypes
import Imaging
import Memory
import Testing

@testable import ThumbnailAPI

@Suite(.timeLimit(.minutes(1))) struct EmbeddedFilesTests {
    private static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    private struct Unreadable: Error {
        let path: String
    }

    private func file(_ path: String) throws -> [UInt8] {
        let opened = unsafe fopen("\(Self.root)/\(path)", "rb")
        guard let stream = unsafe opened else { throw Unreadable(path: path) }
        defer { unsafe fclose(stream) }
        var bytes = ByteAccumulator()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe fread(&buffer, 1, buffer.count, stream)
            guard count > 0 else { return bytes.finish().array }
            unsafe buffer[..<count].withUnsafeBytes { unsafe bytes.append($0) }
        }
    }

    @Test func `the interface description that is served is the project's`() async throws {
        let response = await Edge().respond("/openapi.yaml")
        #expect(response[.contentType] == "application/yaml")
        #expect(response.text == String(decoding: try file("openapi.yaml"), as: UTF8.self))
    }

    @Test func `every parameter and code is described`() throws {
        let document = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
        for parameter in ThumbnailParameter.allCases {
            #expect(document.contains("name: \(parameter.rawValue)\n      in: query"), "\(parameter)")
        }
        for name in ColorNames.values.keys { #expect(document.contains(" \(name)"), "\(name)") }
        let errors: [APIError] = [
            .missingParameter(""), .unknownParameter(""), .badParameter("", ""), .badURL(""), .badSignature, .expired,
            .noSuchRoute, .methodNotAllowed, .badRequest, .requestTimeout, .targetTooLong, .fieldsTooLarge, .draining,
            .crossSite(reason: "", detail: ""), .deadlineExceeded, .noSuchReceipt, .unexpected(""),
        ]
        for error in errors { #expect(document.contains("- \(error.code)\n"), "\(error.code)") }
    }

    @Test func `the formats that are described, and offered on the page, are those that are written`() throws {
        let document = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
        let page = String(decoding: PackageResources.page_html, as: UTF8.self)
        let written = Set(ImageFormat.written)
        for format in ImageFormat.allCases {
            let isWritten = written.contains(format)
            #expect(document.contains("            \(format.mediaType): {}\n") == isWritten, "\(format)")
            #expect(page.contains("<option>\(format.rawValue)</option>") == isWritten, "\(format)")
        }
        let list = try #require(document.split(separator: "enum: [auto, ").dropFirst().first?.prefix { $0 != "]" })
        #expect(Set(list.split(separator: ", ").compactMap { ImageFormat(rawValue: String($0)) }) == written)
    }

    @Test func `the page may load its own files and nothing else`() async {
        let response = await Edge().respond("/")
        #expect(response[.contentType] == "text/html; charset=utf-8")
        #expect(
            response[.contentSecurityPolicy]
                == "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
        for forbidden in ["<style", "style=", "onclick=", "javascript:", "http-equiv", "//cdn"] {
            #expect(!response.text.contains(forbidden), "\(forbidden)")
        }
        #expect(response.text.contains(#"<link rel="stylesheet" href="/page.css">"#))
        #expect(response.text.contains(#"<script src="/page.js" defer></script>"#))
    }

    @Test func `the page has a field with a label for every parameter, and no others`() {
        let page = String(decoding: PackageResources.page_html, as: UTF8.self)
        for name in ThumbnailParameter.allCases.map(\.rawValue) where name != "sig" {
            #expect(page.contains("<label for=\"\(name)\">"), "\(name)")
            #expect(page.contains("id=\"\(name)\" name=\"\(name)\""), "\(name)")
        }
        let names = page.split(separator: " name=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        for name in names where name != "viewport" && name != "color-scheme" {
            #expect(ThumbnailParameter(rawValue: String(name)) != nil, "\(name)")
        }
    }
}
