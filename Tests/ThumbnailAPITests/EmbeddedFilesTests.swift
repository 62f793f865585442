import Glibc
import HTTPTypes
import Memory
import Recipes
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects
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

    private func text(at path: Substring) throws -> String {
        String(
            decoding: try #require(EmbeddedFile.file(at: path, among: EmbeddedFile.ofPublicListener)).bytes,
            as: UTF8.self)
    }

    @Test func `the served interface description is the project's`() async throws {
        let response = await PublicListenerFixture().respond("/openapi.yaml")
        #expect(response[.contentType] == "application/yaml")
        #expect(response.text == String(decoding: try file("openapi.yaml"), as: UTF8.self))
    }

    @Test func `browsers show the interface description instead of saving it`() async {
        let response = await PublicListenerFixture().respond(
            "/openapi.yaml", fields: [.accept: "text/html,application/xml;q=0.9"])
        #expect(response[.contentType] == "text/plain; charset=utf-8" && response[.vary] == "Accept")
    }

    @Test(arguments: ["index", "parameters", "api", "architecture", "decisions/003-source-cache", "measurements/jpeg"])
    func `the documentation is part of the program`(chapter: String) async throws {
        let path = chapter == "index" ? "/book/" : "/book/\(chapter).html"
        let response = await PublicListenerFixture().respond(path)
        #expect(response.status == .ok && response[.contentType] == "text/html; charset=utf-8")
        #expect(response.text.hasPrefix("<!doctype html>") && response.text.hasSuffix("</html>"))
    }

    @Test func `the documentation is sent compressed to clients that accept it`() async throws {
        let listener = PublicListenerFixture()
        let plain = await listener.respond("/book/settings.html", fields: [.acceptEncoding: "br, gzip;q=0"])
        let packed = await listener.respond("/book/settings.html", fields: [.acceptEncoding: "br, gzip"])
        #expect(plain[.contentEncoding] == nil && packed[.contentEncoding] == "gzip")
        #expect(plain[.vary] == "Accept-Encoding" && packed[.vary] == "Accept-Encoding")
        #expect(packed.body.count * 2 < plain.body.count)
        let eTag = try #require(packed[.eTag])
        #expect(plain[.eTag] != eTag)
        let again = await listener.respond(
            "/book/settings.html", fields: [.acceptEncoding: "gzip", .ifNoneMatch: eTag])
        #expect(again.status == .notModified)
    }

    @Test(arguments: ["/book", "/book/index.html", "/book?q=crop"])
    func `relative links of the documentation begin at its root`(path: String) async {
        let response = await PublicListenerFixture().respond(path)
        #expect(response.status == .found && response[.location] == "/book/")
    }

    @Test func `every link of the documentation and of the pages is served`() throws {
        for files in [EmbeddedFile.ofPublicListener, EmbeddedFile.ofAdminListener] {
            let paths = Set(files.map(\.path))
            let others: Set = ["/thumbnail", "/metrics", "/status", "/cache"]
            for page in files where page.isPage {
                let text = String(decoding: page.bytes, as: UTF8.self)
                let links = [" href=\"", " src=\""].flatMap { Self.values(after: $0, in: text, until: "\"") }
                for link in links where !link.hasPrefix("https://") && !link.hasPrefix("http://") {
                    let path = Self.resolved(link, from: page.path)
                    #expect(paths.contains(path) || others.contains(path), "\(page): \(link)")
                }
            }
        }
    }

    @Test func `every parameter and code is described`() throws {
        let document = try text(at: "/openapi.yaml")
        for parameter in ThumbnailParameter.all {
            #expect(document.contains("name: \(parameter.name)\n      in: query"), "\(parameter.name)")
        }
        #expect(document.contains("- $ref: \"#/components/parameters/Save-Data\"\n"))
        let list = try #require(document.split(separator: "    Code:\n").last?.split(separator: "    Problem:").first)
        let codes = list.split(separator: "\n").filter { $0.hasPrefix("        - ") }.map { $0.dropFirst(10) }
        #expect(codes == ErrorCode.counted.map { $0.rawValue[...] })
        // Generated clients send the defaults, and some are rejected without the parameter that they belong to.
        #expect(document.split(separator: "\n").filter { $0.contains("default: ") }.count == 1)
        for name in ColorNames.values.keys { #expect(document.contains(" \(name)"), "\(name)") }
        let errors: [APIError] = [
            .missingParameter(""), .unknownParameter(""), .badParameter("", ""), .badURL(""), .badSignature, .expired,
            .noSuchRoute, .methodNotAllowed, .badRequest, .requestTimeout, .targetTooLong, .fieldsTooLarge, .draining,
            .crossSite(reason: "", detail: ""), .deadlineExceeded, .noSuchReceipt, .unexpected(""),
        ]
        for error in errors { #expect(document.contains("- \(error.code)\n"), "\(error.code)") }
    }

    @Test func `the documentation explains every code`() throws {
        let page = try text(at: "/book/errors.html")
        for code in ErrorCode.counted { #expect(page.contains("<code>\(code.rawValue)</code>"), "\(code)") }
    }

    @Test func `the described and offered formats are the encodable ones`() throws {
        let document = try text(at: "/openapi.yaml")
        let page = try text(at: "/")
        let written = Set(ImageFormat.written)
        for format in ImageFormat.allCases {
            let isWritten = written.contains(format)
            #expect(document.contains("            \(format.mediaType): { schema: *file }\n") == isWritten, "\(format)")
            #expect(page.contains("<option>\(format.rawValue)</option>") == isWritten, "\(format)")
        }
        let list = try #require(document.split(separator: "enum: [auto, ").dropFirst().first?.prefix { $0 != "]" })
        #expect(Set(list.split(separator: ", ").compactMap { ImageFormat(rawValue: String($0)) }) == written)
    }

    @Test(arguments: EmbeddedFile.ofPublicListener)
    func `each file is served with its type, and only a page may load others`(file: EmbeddedFile) async {
        let response = await PublicListenerFixture().respond(file.path)
        #expect(response.status == .ok)
        #expect(response[.contentType] == file.mediaType)
        #expect(response[.cacheControl] == "no-cache")
        let pagePolicy =
            "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
            + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        #expect(response[.contentSecurityPolicy] == (file.isPage ? pagePolicy : "default-src 'none'; sandbox"))
    }

    @Test(arguments: [EmbeddedFile.ofPublicListener, EmbeddedFile.ofAdminListener])
    func `a page names only served files, and has nothing inline`(files: [EmbeddedFile]) throws {
        let page = String(decoding: try #require(files.first { $0.path == "/" }).bytes, as: UTF8.self)
        for forbidden in ["<style", "style=", "onclick=", "javascript:", "http-equiv", "\"//", "<script>"] {
            #expect(!page.contains(forbidden), "\(forbidden)")
        }
        var named = [" href=\"", " src=\""].flatMap { Self.values(after: $0, in: page, until: "\"") }
        for script in files where script.path.hasSuffix(".js") {
            let text = String(decoding: script.bytes, as: UTF8.self)
            named += Self.values(after: "from \"./", in: text, until: "\"").map { "/page/" + $0 }
        }
        let paths = Set(files.map(\.path))
        for path in named where path.hasPrefix("/page/") { #expect(paths.contains(path), "\(path)") }
        for file in files where file.path.hasPrefix("/page/") {
            #expect(named.contains(file.path), "\(file) is loaded by nothing")
        }
        for path in named where !path.hasPrefix("/") { #expect(path.hasPrefix("#"), "\(path) is elsewhere") }
    }

    @Test func `the form has a labeled field for every parameter, and no others`() throws {
        let page = try text(at: "/")
        let form = try #require(Self.values(after: "<form ", in: page, until: "</form>").first)
        for name in ThumbnailParameter.all.map(\.name) where name != "sig" {
            #expect(form.contains("<label for=\"\(name)\">"), "\(name)")
            #expect(form.contains("id=\"\(name)\" name=\"\(name)\""), "\(name)")
        }
        // The choice between a URL and a file is not a parameter.
        for name in Self.values(after: " name=\"", in: form, until: "\"") where name != "source" {
            #expect(ThumbnailParameter.named(name) != nil, "\(name)")
        }
    }

    @Test func `the page gives its script the service's settings, with any text escaped`() async {
        let plain = await PublicListenerFixture().respond("/")
        #expect(
            plain.text.contains(
                "data-service=\"{&quot;uploads&quot;:false,&quot;maxUploadBytes&quot;:67108864,&quot;signed&quot;:false,"
                    + "&quot;closed&quot;:false,&quot;sample&quot;:null,\(Self.qualities)}\""))
        let told = await PublicListenerFixture {
            $0.takesUploads = true
            $0.maximumUploadBytes = 5
            $0.signingKeys = [[1]]
            $0.sampleSource = #"http://a/"><b>&"#
        }.respond("/")
        #expect(
            told.text.contains(
                "data-service=\"{&quot;uploads&quot;:true,&quot;maxUploadBytes&quot;:5,&quot;signed&quot;:true,"
                    + "&quot;closed&quot;:false,&quot;sample&quot;:&quot;http://a/\\&quot;>&lt;b>&amp;&quot;,\(Self.qualities)}\""
            ))
        #expect(plain[.eTag] != told[.eTag])
    }

    /// The default qualities; GIF has none.
    private static let qualities =
        "&quot;sizes&quot;:[],&quot;allowedQualities&quot;:[],&quot;qualities&quot;:{&quot;jpeg&quot;:80,&quot;png&quot;:100,&quot;webp&quot;:80,&quot;avif&quot;:80,"
        + "&quot;jxl&quot;:80}"

    /// The path of a relative link, without query and fragment.
    private static func resolved(_ link: String, from page: String) -> String {
        let target = link.prefix { $0 != "#" && $0 != "?" }
        if target.isEmpty { return page }
        if target.hasPrefix("/") { return String(target) }
        var path = page.split(separator: "/", omittingEmptySubsequences: false).dropFirst().dropLast()
        for part in target.split(separator: "/", omittingEmptySubsequences: false) {
            switch part {
            case "..": path.removeLast()
            case ".": break
            default: path.append(part)
            }
        }
        let isFolder = target.hasSuffix(".") || target.hasSuffix("./")
        return "/" + path.joined(separator: "/") + (isFolder && !path.isEmpty && path.last != "" ? "/" : "")
    }

    /// The texts between each `start` and the next `end`.
    private static func values(after start: String, in text: String, until end: String) -> [String] {
        var values: [String] = []
        var rest = text[...]
        while let begin = rest.firstRange(of: start)?.upperBound {
            rest = rest[begin...]
            guard let stop = rest.firstRange(of: end)?.lowerBound else { break }
            values.append(String(rest[..<stop]))
        }
        return values
    }
}
