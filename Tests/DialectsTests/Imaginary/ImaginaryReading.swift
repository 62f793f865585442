import Recipes
import Testing
import Text
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

func imaginary(_ configure: (inout ImaginaryConfiguration) -> Void = { _ in }) throws -> ImaginaryDialect {
    var configuration = ImaginaryConfiguration()
    configuration.prefix = PathPrefix("/")
    configure(&configuration)
    return try #require(ImaginaryDialect(configuration))
}

/// Parses a target to which an image is sent.
func imaginaryQuery(_ target: String, accept: String? = nil) throws -> Request {
    try imaginary().uploadRequest(in: RequestedTarget(target, accept: accept))
}

func imaginaryComposition(
    _ target: String, _ width: Int, _ height: Int, _ format: ImageFormat = .jpeg, orientation: QuarterTurn = .none,
    hasAlpha: Bool = false
) throws -> RenderDraft {
    var header = ImageHeader(
        format: format, storedSize: PixelSize(width: width, height: height), orientation: orientation,
        bands: hasAlpha ? 4 : 3, hasAlpha: hasAlpha)
    if format == .svg { header.vectorSize = PixelSize(width: width * 1_000, height: height * 1_000) }
    let query = try imaginaryQuery(target)
    let mark = ImageHeader(format: .png, storedSize: PixelSize(width: 20, height: 10), bands: 4, hasAlpha: true)
    let source = RecipeSource(header: header, additions: query.additional.map { _ in mark })
    return try query.recipe.recipe.draft(of: source)
}

/// A pipeline's target.
func pipeline(_ operations: String) -> String { "/pipeline?operations=\(URLEscape.encode(operations))" }

/// The target with which Nextcloud requests a preview.
func nextcloud(_ operation: String, _ side: Int, first: String? = "autorotate", as type: String = "jpeg") -> String {
    let opening =
        switch first {
        case "convert": "{\"operation\":\"convert\",\"params\":{\"type\":\"\(type)\"}},"
        case let name?: "{\"operation\":\"\(name)\"},"
        case nil: ""
        }
    return pipeline(
        """
        [\(opening){"operation":"\(operation)","params":{"width":\(side),"height":\(side),"stripmeta":"true",\
        "type":"\(type)","norotation":"true","quality":"80"}}]
        """) + "&key="
}
