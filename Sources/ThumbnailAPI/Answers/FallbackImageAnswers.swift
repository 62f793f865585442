import Dialects
import HTTPTypes
import Imaging
import ThumbnailPipeline
import ThumbnailTypes

/// Responds to failures with a fallback image, with the failure's status unless the operator chose another one.
struct FallbackImageAnswers: Sendable {
    let thumbnails: any ThumbnailServing

    /// Returns the response with the image as its body; the original error if the image cannot be rendered.
    ///
    /// - Parameters:
    ///   - response: The original error response.
    ///   - receipt: The request's receipt.
    func answer(_ fallbackImage: FallbackImage, to response: HTTPResponse, _ receipt: String) async -> HTTPResponse {
        guard let image = try? await image(fallbackImage.subject, receipt) else { return response }
        var fields = HTTPFields(response.headerFields.filter { $0.name != .contentType })
        fields.append(.contentType, image.format.mediaType)
        fields.append(sizeOf: image)
        return HTTPResponse(
            status: fallbackImage.status ?? response.status, headerFields: fields, body: .shared(image.bytes))
    }

    private func image(_ subject: FallbackImage.Subject, _ receipt: String) async throws -> EncodedImage {
        switch subject {
        case .plain(let placeholder): try await thumbnails.placeholder(placeholder)
        case .image(let request):
            try await thumbnails.thumbnail(for: Call(thumbnails.resolved(request), receipt: receipt)).image
        }
    }
}
