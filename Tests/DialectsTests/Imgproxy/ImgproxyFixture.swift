import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Reads targets of imgproxy at `/`.
enum ImgproxyFixture {
    static let source = "plain/https://example.com/a.jpg"

    /// The dialect with these settings.
    static func dialect(_ configure: (inout ImgproxyConfiguration) -> Void = { _ in }) -> ImgproxyDialect {
        var configuration = ImgproxyConfiguration()
        configuration.prefix = PathPrefix("/")
        configure(&configuration)
        guard let dialect = ImgproxyDialect(configuration) else { preconditionFailure("the dialect has a place") }
        return dialect
    }

    /// The query of a target that is not signed.
    static func query(
        _ path: String, accept: String? = nil, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws(APIError) -> Request {
        try dialect(configure).request(in: RequestedTarget("/_/" + path, accept: accept))
    }

    /// The composition of an image by options.
    static func options(
        _ options: String, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> ImgproxyOptions {
        try recipe(options, configure).options
    }

    /// The recipe of options.
    static func recipe(
        _ options: String, accept: String? = nil, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> ImgproxyRecipe {
        let path = options.isEmpty ? source : options + "/" + source
        let query = try query(path, accept: accept, configure)
        guard let recipe = query.recipe.recipe as? ImgproxyRecipe else {
            preconditionFailure("the request has a recipe of imgproxy")
        }
        return recipe
    }

    /// The error of a path; nil if it can be read.
    static func fault(
        _ path: String, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) -> APIError? {
        do throws(APIError) {
            _ = try query(path, configure)
            return nil
        } catch {
            return error
        }
    }

    /// How an image with this header is made by options.
    static func composition(
        _ options: String, _ header: ImageHeader, additions: [ImageHeader] = [], box: ImagePart? = nil,
        accept: String? = nil, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> Composition {
        try recipe(options, accept: accept, configure)
            .composition(of: RecipeSource(header: header, box: box, additions: additions))
    }
}

extension ImageHeader {
    /// A still of this format and size.
    static func still(
        _ format: ImageFormat, _ width: Int, _ height: Int, orientation: QuarterTurn = .none, hasAlpha: Bool = false,
        frames: Int = 1
    ) -> ImageHeader {
        ImageHeader(
            format: format, storedSize: PixelSize(width: width, height: height), orientation: orientation,
            frames: frames, hasAlpha: hasAlpha)
    }
}

extension PixelSize {
    /// A size as tests write it.
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}
