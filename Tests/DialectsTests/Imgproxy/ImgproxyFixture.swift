import Recipes
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Parses targets of imgproxy at `/`.
enum ImgproxyFixture {
    static let source = "plain/https://example.com/a.jpg"

    static func dialect(_ configure: (inout ImgproxyConfiguration) -> Void = { _ in }) -> ImgproxyDialect {
        var configuration = ImgproxyConfiguration()
        configuration.prefix = PathPrefix("/")
        configure(&configuration)
        guard let dialect = ImgproxyDialect(configuration) else { preconditionFailure("the dialect has a place") }
        return dialect
    }

    /// The query of an unsigned target.
    static func query(
        _ path: String, accept: String? = nil, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws(APIError) -> Request {
        try dialect(configure).request(in: RequestedTarget("/_/" + path, accept: accept))
    }

    /// The draft of an image with these options.
    static func options(
        _ options: String, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> ImgproxyOptions {
        try recipe(options, configure).options
    }

    /// The recipe of these options.
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

    /// The error of a path; nil if it is valid.
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

    /// The draft of an image with this header by these options.
    static func draft(
        _ options: String, _ header: ImageHeader, additions: [ImageHeader] = [], box: ImageRegion? = nil,
        accept: String? = nil, _ configure: (inout ImgproxyConfiguration) -> Void = { _ in }
    ) throws -> RenderDraft {
        try recipe(options, accept: accept, configure)
            .draft(of: RecipeSource(header: header, box: box, additions: additions))
    }
}

extension ImageHeader {
    /// The header of a still image.
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
    init(_ width: Int, _ height: Int) { self.init(width: width, height: height) }
}
