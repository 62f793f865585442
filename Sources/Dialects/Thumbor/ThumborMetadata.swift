import Imaging
import JSON
import Text

/// The answer to `meta/`: the source, the operations before the filters, and the size that they lead to, as thumbor
/// writes it.
struct ThumborMetadata {
    /// The JSON text.
    let text: String

    /// Facts about a source with this header, for a recipe.
    init(of header: ImageHeader, recipe: ThumborRecipe, source: ExactText) {
        let page = header.page(recipe.options.page)
        let layout = recipe.layout(of: RecipeSource(header: header))
        var operations: [String] = []
        let part = layout.part
        if !part.isWhole {
            operations.append(
                """
                {"type": "crop", "left": \(part.x), "top": \(part.y), "right": \(part.x + part.size.width), \
                "bottom": \(part.y + part.size.height)}
                """)
        }
        let target = layout.interest ?? layout.size
        if target != part.size {
            operations.append(
                "{\"type\": \"resize\", \"width\": \(target.width), \"height\": \(target.height)}")
        }
        if recipe.options.geometry.isMirroredAcross { operations.append("{\"type\": \"flip_horizontally\"}") }
        if recipe.options.geometry.isMirroredDown { operations.append("{\"type\": \"flip_vertically\"}") }
        text = """
            {"thumbor": {"source": {"url": \(JSONText.string(source.string)), "width": \(page.size.width), \
            "height": \(page.size.height), "frameCount": \(header.frames)}, \
            "operations": [\(operations.joined(separator: ", "))], \
            "target": {"width": \(target.width), "height": \(target.height)}}}
            """
    }
}
