import Downloading
import HTTPTypes
import ThumbnailTypes

struct ResultWriteError: ServiceError {
    private let cause: DownloadError

    init(_ cause: DownloadError) { self.cause = cause }

    var response: ErrorResponse {
        ErrorResponse(
            .badGateway, code: .destinationFailed, category: .origin,
            message: "The result could not be stored at its destination.",
            detail: cause.response.detail ?? cause.response.message, upstreamStatus: cause.upstreamStatus)
    }
}
