package import Coordination
import Downloading
import HTTPTypes
package import ImageSandbox
package import ThumbnailTypes

enum PipelineError: Error, Equatable {
    case sourceNeeded
    case placeholderTooLarge
    case tooManyPrefetchJobs
    case tooManyPurges
}

extension PipelineError: ServiceError {
    var response: ErrorResponse {
        switch self {
        case .sourceNeeded: .internal()
        case .placeholderTooLarge:
            ErrorResponse(
                .unprocessableContent, .tooManyPixels, category: .request,
                message: "The placeholder would have too many pixels.")
        case .tooManyPrefetchJobs: .overloaded("Too many prefetch jobs are running.", retryAfter: 30)
        case .tooManyPurges:
            .overloaded("Too many purges wait for the shared cache; only this instance is purged.", retryAfter: 30)
        }
    }
}

struct ResultWriteError: ServiceError {
    private let cause: DownloadError

    init(_ cause: DownloadError) { self.cause = cause }

    var response: ErrorResponse {
        ErrorResponse(
            .badGateway, .destinationFailed, category: .origin,
            message: "The result could not be put at its destination.",
            detail: cause.response.detail ?? cause.response.message, upstreamStatus: cause.upstreamStatus)
    }
}

extension WorkerPool.Full: ServiceError {
    package var response: ErrorResponse {
        .overloaded(
            "The service has more images to work on than it can take; try again shortly.",
            retryAfter: max(1, Int(delay.seconds.rounded(.up))))
    }
}

extension WorkerPool.Stopped: ServiceError {
    package var response: ErrorResponse { .shuttingDown }
}

extension MemoryBudget.Full: ServiceError {
    package var response: ErrorResponse {
        .overloaded("The service has no memory to spare at the moment; try again shortly.")
    }
}

extension WorkerUnavailable: ServiceError {
    package var response: ErrorResponse {
        .overloaded("The service has no room to work on the image; try again shortly.", detail: detail)
    }
}

extension DeadlineExceeded: ServiceError {
    package var response: ErrorResponse {
        ErrorResponse(
            .gatewayTimeout, .deadlineExceeded, category: .timeout, message: "The thumbnail was not ready in time.")
    }
}
