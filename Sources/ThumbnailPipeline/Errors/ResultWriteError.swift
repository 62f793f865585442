import Downloading
import HTTPTypes
import ThumbnailTypes

struct ResultWriteError: ServiceError {
    private let cause: DownloadError

    private init(_ cause: DownloadError) { self.cause = cause }

    @discardableResult
    static func replacingDownloadErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as DownloadError where error != .shuttingDown {
            throw ResultWriteError(error)
        }
    }

    var response: ErrorResponse {
        ErrorResponse(
            .badGateway, code: .destinationFailed, category: .origin,
            message: "The result could not be stored at its destination.",
            detail: cause.response.detail ?? cause.response.message, upstreamStatus: cause.upstreamStatus)
    }
}
