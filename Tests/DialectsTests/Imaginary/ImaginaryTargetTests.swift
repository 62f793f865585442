import Crypto
import HTTPTypes
import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

@Suite struct ImaginaryTargetTests {
    private func options(_ query: String) throws -> ImaginaryOptions {
        let recipe = try imaginaryQuery("/flip?" + query).recipe.recipe as? ImaginaryRecipe
        return try #require(recipe?.operations.first).options
    }

    private func operations(_ json: String) throws -> [ImaginaryOperation] {
        let recipe = try imaginaryQuery(pipeline(json)).recipe.recipe as? ImaginaryRecipe
        return try #require(recipe).operations
    }

    @Test(arguments: [
        ("300", 300), ("3e2", 300), ("%2B5", 5), ("49.6", 50), ("300.5", 301), ("-90", 90), ("", 0), ("0.4", 0),
    ])
    func `whole numbers are rounded and lose their sign`(text: String, number: Int) throws {
        #expect(try options("width=\(text)").width == number)
    }

    @Test(arguments: [
        "width=300px", "width=%20300", "width=nan", "width=inf", "sigma=x", "force=yes", "background=1,2",
        "background=%23ffffff", "aspectratio=16", "aspectratio=0:9", "operations=%7B%7B", "type=jpg", "type=avif",
        "type=AUTO", "width=%zz", "width=%ff",
    ])
    func `a wrong value is rejected even if unused`(query: String) {
        #expect(throws: APIError.self) { try imaginaryQuery("/flip?" + query) }
        #expect(throws: APIError.self) { try imaginaryQuery("/info?" + query) }
    }

    @Test func `words are case-insensitive, the first of several values counts, and unknown names do not`() throws {
        let read = try options("gravity=+South&extend=LastPixel&width=3&width=4&Width=9&colour=red&foo&=")
        #expect(read.gravity == .bottom && read.bars == .background && read.width == 3)
        #expect(try options("extend=repeat").bars == .mirror && options("").bars == .copy)
        #expect(try options("quality=0").effectiveQuality == 75 && options("quality=101").effectiveQuality == 75)
        #expect(try options("background=red,300,%207").background == Color(red: 0, green: 255, blue: 7))
        #expect(try options("background=0,0,0").background == nil)
        #expect(try imaginaryQuery("/flip?interlace=true&speed=3&palette=0").ignoredOptions == ["interlace", "speed"])
    }

    @Test(arguments: [
        "/resize", "/crop", "/smartcrop", "/thumbnail", "/fit?width=3", "/enlarge?height=3", "/extract?areawidth=3",
        "/rotate?rotate=0", "/zoom", "/zoom?factor=1&top=3", "/convert", "/convert?type=", "/blur", "/watermark",
        "/watermarkimage", "/pipeline", "/pipeline?operations=%5B%5D", "/convert?type=auto",
    ])
    func `a required parameter of an operation may not be missing`(target: String) {
        #expect {
            try imaginaryQuery(target)
        } throws: { error in
            (error as? APIError)?.code == "missing_parameter"
        }
    }

    @Test func `the format is named, or the first of three in Accept`() throws {
        func draft(_ query: String, _ accept: String?) throws -> ImageFormat {
            let query = try imaginaryQuery("/flip?" + query, accept: accept)
            let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 4, height: 4))
            return try query.recipe.recipe.draft(of: RecipeSource(header: header)).format
        }
        #expect(try draft("type=WebP", nil) == .webp && draft("type=png", "image/webp") == .png)
        #expect(try draft("type=auto", "image/avif,image/png;q=0.1,image/webp") == .png)
        #expect(try draft("type=auto", "image/*,*/*;q=0.8") == .jpeg)
        #expect(try imaginaryQuery("/flip?type=auto").isNegotiated && !imaginaryQuery("/flip?type=png").isNegotiated)
        for type in ["tiff", "gif", "svg", "pdf"] {
            #expect(throws: APIError.self) { try imaginaryQuery("/flip?type=\(type)") }
        }
        // `autorotate` ignores all parameters.
        #expect(try imaginaryQuery("/autorotate?type=gif").isNegotiated == false)
    }

    @Test func `values in a pipeline are those of JSON`() throws {
        let read = try operations(
            """
            [{"Operation":"resize","PARAMS":{"width":300.7,"height":-300,"left":"-300","top":"300.5","force":true,\
            "flip":"true","type":"auto","colour":null}},\
            {"operation":"watermarkImage","params":{"image":"http://h/m"}}] x
            """)
        #expect(read.map(\.name) == [.resize, .watermarkimage] && read[0].format == nil)
        let options = read[0].options
        #expect(options.width == 300 && options.height == -300 && options.left == 300 && options.top == 301)
        #expect(options.isForced && options.mirrorsX)
    }

    @Test(arguments: [
        "{}", "7x", "[3]", "[{\"operation\":\"info\"}]", "[{\"operation\":\"watermarkimage\"}]",
        "[{\"operation\":\"flip\",\"note\":1}]", "[{\"operation\":3}]", "[{\"operation\":\"flip\",\"params\":[]}]",
        "[{\"operation\":\"flip\",\"params\":{\"width\":null}}]", "[{\"operation\":\"flip\",\"params\":{\"force\":1}}]",
        "[{\"operation\":\"flip\",\"params\":{\"text\":3}}]",
        "[{\"operation\":\"convert\",\"params\":{\"type\":\"jpg\"}}]",
        "[{\"operation\":\"flip\",\"ignore_failure\":\"yes\"}]", "[{\"operation\":\"flip\"",
        "[{\"operation\":\"crop\"}]",
        "[" + [String](repeating: "{\"operation\":\"flip\"}", count: 11).joined(separator: ",") + "]",
        "[{\"operation\":\"convert\",\"params\":{\"type\":\"tiff\"}},{\"operation\":\"flip\"}]",
    ])
    func `an invalid pipeline is rejected`(json: String) {
        #expect(throws: APIError.self) { try imaginaryQuery(pipeline(json)) }
    }

    @Test func `an operation that may fail and lacks a parameter is omitted`() throws {
        let read = try operations("[{\"operation\":\"crop\",\"ignore_failure\":true},{\"operation\":\"flip\"}]")
        #expect(read.map(\.name) == [.flip])
    }

    @Test func `marks are separate sources, and texts are drawings sent with the request`() throws {
        let query = try imaginaryQuery(
            pipeline(
                """
                [{"operation":"watermarkImage","params":{"image":"http://h/m.png"}},\
                {"operation":"watermark","params":{"text":"<b>a</b> &amp; &lt;","font":"serif bold 12"}}]
                """))
        #expect(query.additional.map(\.source) == ["http://h/m.png", ""])
        let drawing = try #require(query.additional[1].file).string
        #expect(drawing.contains("font-family=\"serif\" font-weight=\"bold\""))
        #expect(drawing.contains(">a &amp; &lt;</text>"), "\(drawing)")
    }

    @Test func `paths and files are below the origin of all dialects, if there is one`() throws {
        var configuration = ImaginaryConfiguration()
        configuration.prefix = PathPrefix("/")
        func source(_ query: String) throws -> ExactText {
            let dialect = try #require(ImaginaryDialect(configuration, base: "site:"))
            return try dialect.request(in: RequestedTarget("/flip?" + query)).source
        }
        #expect(try source("url=/a%2520b.jpg") == "site:a b.jpg" && source("file=a.jpg") == "site:a.jpg")
        #expect(try source("url=//h/a.jpg") == "//h/a.jpg" && source("url=http://h/a") == "http://h/a")
        configuration.folder = "mount:"
        #expect(try source("file=a.jpg") == "mount:a.jpg" && source("url=/a.jpg") == "site:a.jpg")
        configuration.takesURLs = false
        #expect(throws: APIError.self) { try source("url=/a.jpg") }
    }

    @Test func `a source is a URL, and a file only below the operator's folder`() throws {
        func source(_ query: String, _ configure: (inout ImaginaryConfiguration) -> Void = { _ in }) throws -> ExactText
        {
            try imaginary(configure).request(in: RequestedTarget("/flip?" + query)).source
        }
        #expect(try source("url=http%3A%2F%2Fh%2Fa%2520b&url=x") == "http://h/a%20b")
        #expect(throws: APIError.self) { try source("") }
        #expect(throws: APIError.self) { try source("file=/etc/passwd") }
        #expect(try source("file=a%2520b.jpg") { $0.folder = "mount:" } == "mount:a b.jpg")
        #expect(throws: APIError.methodNotAllowed) { try source("url=http://h/a") { $0.takesURLs = false } }
        #expect(throws: APIError.noSuchRoute) { try source("url=http://h/a") { $0.disabledRoutes = ["flip"] } }
    }

    @Test func `a key is a field or a parameter, and the field takes precedence`() throws {
        let dialect = try imaginary { $0.key = Array("sesame".utf8) }
        func isOpen(_ query: String, field: String? = nil) -> Bool {
            var fields: HTTPFields = [:]
            if let field { fields.append(.apiKey, field) }
            let request = HTTPRequest(method: .get, target: "/flip?url=http://h/a" + query, headerFields: fields)
            do {
                _ = try dialect.request(in: RequestedTarget(request))
                return true
            } catch {
                #expect(error == .badKey)
                return false
            }
        }
        #expect(isOpen("&key=sesame") && isOpen("", field: "sesame") && isOpen("&key=x", field: "sesame"))
        #expect(isOpen("&key=sesame", field: ""))
        #expect(!isOpen("") && !isOpen("&key=") && !isOpen("&key=Sesame") && !isOpen("&key=sesame", field: "x"))
        #expect(!isOpen("&key=x&key=sesame"))
        #expect(dialect.signatures == .required)
        #expect(throws: APIError.badKey) { try dialect.checkProbe(RequestedTarget("/health")) }
    }

    @Test func `a signature covers the path and the sorted query`() throws {
        let key = Array("4f46feebafc4b5e988f131c4ff8b5997".utf8)
        let dialect = try imaginary {
            $0.signatureKey = key
            $0.prefix = PathPrefix("/api")
        }
        func sign(_ message: String) -> String {
            Base64URL.encode(HMAC.authenticationCode(for: message.utf8, key: key))
        }
        func isAuthentic(_ target: String) -> Bool { dialect.isAuthentic(RequestedTarget(target)) }
        let good = sign("/api/watermarktext=a+b+c%2Cd&url=http%3A%2F%2Fh%2Fa%2520b&width=3&width=1")
        #expect(isAuthentic("/api/watermark?width=3&url=http://h/a%2520b&text=a+b%20c,d&width=1&sign=\(good)"))
        #expect(isAuthentic("/api/watermark?sign=\(good)&width=3&width=1&text=a%20b+c,d&url=http%3A%2F%2Fh/a%2520b"))
        #expect(!isAuthentic("/api/watermark?width=1&url=http://h/a%2520b&text=a+b%20c,d&width=3&sign=\(good)"))
        #expect(!isAuthentic("/api/watermark?width=3&url=http://h/a%2520b&text=a+b%20c,d&width=1"))
        let plain = sign("/api/flipurl=x")
        #expect(isAuthentic("/api/flip?url=x&sign=\(plain)") && !isAuthentic("/api/flip?url=x&sign=\(plain)="))
        #expect(!isAuthentic("/api/flop?url=x&sign=\(plain)") && !isAuthentic("/api/flip?url=x&sign="))
        #expect(!isAuthentic("/api/flip?url=x&sign=\(plain.dropLast(3))"))
    }

    @Test func `at the root only the service's own routes are matched`() throws {
        let dialect = try imaginary()
        func isTaken(_ target: String) -> Bool { if case .exact = dialect.match(on: target) { true } else { false } }
        #expect(isTaken("/resize?width=3") && isTaken("/info") && isTaken("/thumbnail?width=3"))
        #expect(!isTaken("/Resize") && !isTaken("/resize/") && !isTaken("/thumbnails") && !isTaken("/watermarkImage"))
    }
}
