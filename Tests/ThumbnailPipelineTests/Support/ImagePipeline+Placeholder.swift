import Recipes
import TestSupport
import ThumbnailPipeline
import ThumbnailTypes

extension ImagePipeline {
    /// A plain image in the box of a request by Alula's own rules.
    func placeholder(for request: Request, color: Color, bill: RequestBill? = nil) async throws -> EncodedImage {
        try await placeholder(Placeholder(color, in: request.options), bill: bill)
    }
}
