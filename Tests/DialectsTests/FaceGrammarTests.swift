import HTTPTypes
import Recipes
import TestSupport
import Testing
import Text
import ThumbnailTypes

@testable import Dialects

@Suite struct FaceGrammarTests {
    private func vocabulary(findsFaces: Bool) -> Vocabulary {
        var vocabulary = Vocabulary()
        vocabulary.findsFaces = findsFaces
        return vocabulary
    }

    private func request(
        _ target: String, _ dialect: any Dialect
    ) throws(APIError) -> Request { try dialect.request(in: RequestedTarget(target)) }

    /// The keys of the steps that crop a JPEG of 1000×500.
    private func crops(_ request: Request, findsFaces: Bool) throws -> [String] {
        var rules = RenderingRules()
        rules.findsFaces = findsFaces
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1_000, height: 500))
        let plan = try RenderPlan(request.recipe, of: RecipeSource(header: header, rules: rules))
        return plan.keyTexts.filter { $0.hasPrefix("face ") || $0.hasPrefix("attention ") }
    }

    @Test func `gravity=face needs fit=cover and a service that finds faces`() throws {
        let target = "/thumbnail?url=x:y&w=100&h=100&gravity=face"
        let native = NativeDialect(SigningKeys(), vocabulary: vocabulary(findsFaces: true))
        #expect(try crops(request(target + "&fit=cover", native), findsFaces: true) == ["face 100x100"])
        for fit in ["", "&fit=inside", "&fit=outside", "&fit=contain", "&fit=fill"] {
            let error = #expect(throws: APIError.self) { try request(target + fit, native) }
            #expect(error?.response.parameter == "gravity" && error?.response.status == .badRequest, "\(fit)")
        }
        let blind = NativeDialect(SigningKeys(), vocabulary: vocabulary(findsFaces: false))
        let error = #expect(throws: APIError.self) { try request(target + "&fit=cover", blind) }
        #expect(
            error?.response.parameter == "gravity" && error?.response.message.contains("faceDetection is off") == true)
        #expect(error?.response.code == .badParameter)
    }

    @Test func `include=faces needs a service that finds faces`() throws {
        let target = "/info?url=x:y&include=faces,color"
        let read = try request(target, InfoDialect(vocabulary: vocabulary(findsFaces: true)))
        #expect(read.form.facts?.includesFaces == true && read.form.facts?.features == [.color])
        let error = #expect(throws: APIError.self) {
            try request(target, InfoDialect(vocabulary: vocabulary(findsFaces: false)))
        }
        #expect(
            error?.response.parameter == "include" && error?.response.message.contains("faceDetection is off") == true)
        #expect(throws: APIError.self) {
            try request("/info?url=x:y&include=faces,faces", InfoDialect(vocabulary: vocabulary(findsFaces: true)))
        }
    }

    @Test(arguments: ["g:obj:face", "gravity:obj:face", "g:objw:face:2", "g:objw:face"])
    func `imgproxy finds faces as objects`(option: String) throws {
        var configuration = ImgproxyConfiguration()
        configuration.prefix = PathPrefix("/")
        let target = "/_/rs:fill:100:100/\(option)/plain/http://example.com/a.jpg"
        let dialect = try #require(ImgproxyDialect(configuration, vocabulary: vocabulary(findsFaces: true)))
        #expect(try crops(request(target, dialect), findsFaces: true) == ["face 100x100"])
        let cropping = target.replacing("rs:fill:100:100/\(option)", with: "c:100:100:obj:face")
        #expect(try crops(request(cropping, dialect), findsFaces: true) == ["face 100x100"])
        let blind = try #require(ImgproxyDialect(configuration, vocabulary: vocabulary(findsFaces: false)))
        let error = #expect(throws: APIError.self) { try request(target, blind) }
        #expect(error?.response.code == .unsupportedOption)
    }

    @Test func `imgproxy's smart gravity stays attention`() throws {
        var configuration = ImgproxyConfiguration()
        configuration.prefix = PathPrefix("/")
        let dialect = try #require(ImgproxyDialect(configuration))
        let target = "/_/rs:fill:100:100/g:sm/plain/http://example.com/a.jpg"
        #expect(try crops(request(target, dialect), findsFaces: true) == ["attention 100x100"])
    }

    @Test(arguments: [(true, "face 100x100"), (false, "attention 100x100")])
    func `Cloudflare's and thumbor's words for faces are attention where none are found`(
        findsFaces: Bool, step: String
    ) throws {
        var thumbor = ThumborConfiguration()
        thumbor.prefix = PathPrefix("/")
        let smart = try request(
            "/unsafe/100x100/smart/http://example.com/a.jpg", try #require(ThumborDialect(thumbor)))
        #expect(try crops(smart, findsFaces: findsFaces) == [step])
        #expect(try cloudflare("", findsFaces: findsFaces).contains(step))
    }

    @Test func `Cloudflare's zoom crops closer to faces`() throws {
        #expect(try cloudflare(",zoom=0", findsFaces: true).contains("face 100x100"))
        #expect(try cloudflare(",zoom=0.5", findsFaces: true).contains("face 200x200 zoom 50"))
        #expect(try cloudflare(",face-zoom=1", findsFaces: true).contains("face 400x400 zoom 100"))
        #expect(try cloudflare(",zoom=1", findsFaces: false).contains("attention 400x400"))
    }

    private func cloudflare(_ more: String, findsFaces: Bool) throws -> [String] {
        let options = try CloudflareOptions("width=100,height=100,fit=cover,gravity=face" + more, accept: nil)
        let header = ImageHeader(format: .jpeg, storedSize: PixelSize(width: 1_000, height: 500))
        var rules = RenderingRules()
        rules.findsFaces = findsFaces
        return try RenderPlan(
            AnyRenderRecipe(CloudflareRecipe(options: options)), of: RecipeSource(header: header, rules: rules)
        ).keyTexts
    }
}
