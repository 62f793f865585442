import Dialects
import HTTPTypes
import Imaging
import ThumbnailPipeline
import ThumbnailTypes

/// Answers failures with an image, under the failure's status unless an operator wants another one.
struct StandInAnswers: Sendable {
    let thumbnails: any ThumbnailServing

    /// The answer that has the image for its body; the failure's own if the image cannot be made.
    ///
    /// - Parameters:
    ///   - response: The failure's own answer.
    ///   - receipt: The name of the request.
    func answer(_ standIn: StandIn, to response: HTTPResponse, _ receipt: String) async -> HTTPResponse {
        guard let image = try? await image(standIn.subject, receipt) else { return response }
        var fields = HTTPFields(response.headerFields.filter { $0.name != .contentType })
        fields.append(.contentType, image.format.mediaType)
        fields.append(sizeOf: image)
        return HTTPResponse(
            status: standIn.status ?? response.status, headerFields: fields, body: .shared(image.bytes))
    }

    private func image(_ subject: StandIn.Subject, _ receipt: String) async throws -> EncodedImage {
        switch subject {
        case .plain(let placeholder): try await thumbnails.placeholder(placeholder)
        case .image(let request):
            try await thumbnails.thumbnail(for: Call(thumbnails.resolved(request), receipt: receipt)).image
        }
    }
}
