import Coordination
import Imaging
import Memory
import TestSupport

/// The whole way from a file to a file.
func thumbnail(
    _ bytes: SharedBytes, _ options: RenderingOptions, _ format: ImageFormat, limits: ImagingLimits = ImagingLimits(),
    similarity: SimilarityGoal = SimilarityGoal()
) throws -> EncodedImage {
    try ImageLibrary.start()
    let header = try ImageHeader.inspect(bytes)
    let plan = try RenderPlan(options: options, format: format, source: header, limits: limits, similarity: similarity)
    let token = WorkToken()
    let image = try ImageDecoder.decode(bytes, header: header, plan: plan.decode, limits: limits, token: token)
    return try ImageRenderer.render(image, plan: plan, token: token)
}
