import Coordination
import Imaging
import Memory
import Recipes
import TestSupport

/// Renders a file to a file.
func thumbnail(
    _ bytes: SharedBytes, _ options: RenderingOptions, _ format: ImageFormat, limits: ImagingLimits = ImagingLimits(),
    similarity: SimilarityGoal = SimilarityGoal()
) throws -> EncodedImage {
    try ImageLibrary.start()
    let header = try ImageHeader.inspect(bytes)
    let plan = try RenderPlan(options: options, format: format, source: header, limits: limits, similarity: similarity)
    return try thumbnail(bytes, header, plan, limits: limits)
}

/// Renders a file by other rules than Alula's own.
func thumbnail(_ bytes: SharedBytes, _ recipe: some RenderRecipe) throws -> EncodedImage {
    try ImageLibrary.start()
    let header = try ImageHeader.inspect(bytes)
    return try thumbnail(bytes, header, RenderPlan(recipe, source: header), limits: ImagingLimits())
}

private func thumbnail(
    _ bytes: SharedBytes, _ header: ImageHeader, _ plan: RenderPlan, limits: ImagingLimits
) throws -> EncodedImage {
    let token = WorkToken()
    let image = try InProcessCodec().decodeWithGainMap(
        bytes, header: header, plan: plan.decode, limits: limits, token: token)
    return try ImageRenderer.render(image, plan: plan, token: token)
}
