import Recipes
import TestSupport
import ThumbnailPipeline
import ThumbnailTypes

extension ImagePipeline {
    /// A plain image with the size of a request in Alula's own grammar.
    func placeholder(for request: Request, color: Color, bill: RequestBill? = nil) async throws -> EncodedImage {
        try await placeholder(Placeholder(color, in: request.options), bill: bill)
    }
}
