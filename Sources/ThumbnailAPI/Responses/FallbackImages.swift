import Dialects
import HTTPTypes
import Recipes
import ThumbnailPipeline
import ThumbnailTypes

/// Replaces failures by fallback images, keeping the status unless the operator chose another one.
struct FallbackImages: Sendable {
    let thumbnails: any ThumbnailServing

    /// Returns the original error if the image cannot be rendered.
    func response(
        _ fallback: FallbackImage, replacing response: HTTPResponse, receipt: String, bill: RequestBill?
    ) async -> HTTPResponse {
        guard let image = try? await image(of: fallback.subject, receipt: receipt, bill: bill) else { return response }
        var fields = HTTPFields(response.headerFields.filter { $0.name != .contentType && $0.name != .alulaReceipt })
        fields.append(.contentType, image.format.mediaType)
        fields.append(sizeOf: image)
        if response.headerFields.contains(.alulaReceipt) { fields.append(.alulaReceipt, receipt) }
        return HTTPResponse(
            status: fallback.status ?? response.status, headerFields: fields, body: .shared(image.bytes))
    }

    private func image(
        of subject: FallbackImage.Subject, receipt: String, bill: RequestBill?
    ) async throws -> EncodedImage {
        switch subject {
        case .color(let placeholder): try await thumbnails.placeholder(placeholder, bill: bill)
        case .source(let request):
            try await thumbnails.thumbnail(for: Job(thumbnails.resolved(request), receipt: receipt, bill: bill)).image
        }
    }
}
