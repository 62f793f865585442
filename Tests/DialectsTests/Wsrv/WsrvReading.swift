import Recipes
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// Parses a target at `/`.
func wsrvQuery(_ query: String) throws -> Request { try WsrvTarget("/?" + query).request() }

/// The options of a target; a source is added to it.
func wsrvOptions(_ query: String) throws -> WsrvOptions {
    let recipe = try wsrvQuery("url=example.com/a.jpg&" + query).recipe.recipe as? WsrvRecipe
    return try #require(recipe).options
}

func wsrvComposition(
    _ query: String, _ width: Int, _ height: Int, _ format: ImageFormat = .jpeg, hasAlpha: Bool = false, frames: Int = 1
) throws -> RenderDraft {
    let header = ImageHeader(
        format: format, storedSize: PixelSize(width: width, height: height), bands: hasAlpha ? 4 : 3, frames: frames,
        hasAlpha: hasAlpha)
    return try WsrvRecipe(wsrvOptions(query)).draft(of: RecipeSource(header: header))
}

extension RenderDraft {
    /// The steps as written in cache keys.
    var stepTexts: [String] { steps.map(\.keyText) }

    /// The size of the result.
    var finalSize: PixelSize { steps.shape(after: FrameShape(size: size, hasAlpha: false)).size }
}
