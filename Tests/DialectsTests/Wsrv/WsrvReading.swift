import Recipes
import Testing
import ThumbnailPipeline
import ThumbnailTypes

@testable import Dialects

/// The query of a target at `/`.
func wsrvQuery(_ query: String) throws -> Request { try WsrvTarget("/?" + query).query() }

/// The options of a target that names a source besides.
func wsrvOptions(_ query: String) throws -> WsrvOptions {
    let recipe = try wsrvQuery("url=example.com/a.jpg&" + query).recipe.recipe as? WsrvRecipe
    return try #require(recipe).options
}

/// The composition of a target for a source.
func wsrvComposition(
    _ query: String, _ width: Int, _ height: Int, _ format: ImageFormat = .jpeg, hasAlpha: Bool = false, frames: Int = 1
) throws -> Composition {
    let header = ImageHeader(
        format: format, storedSize: PixelSize(width: width, height: height), bands: hasAlpha ? 4 : 3, frames: frames,
        hasAlpha: hasAlpha)
    return try WsrvRecipe(wsrvOptions(query)).composition(of: RecipeSource(header: header))
}

extension Composition {
    /// The texts of the steps in the keys of results.
    var stepTexts: [String] { steps.map(\.keyText) }

    /// The size of the result.
    var finalSize: PixelSize { steps.shape(after: FrameShape(size: size, hasAlpha: false)).size }
}
