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
            .overloaded("The shared cache's purge queue is full; only this instance was purged.", retryAfter: 30)
        }
    }
}

struct ResultWriteError: ServiceError {
    private let cause: DownloadError

    init(_ cause: DownloadError) { self.cause = cause }

    var response: ErrorResponse {
        ErrorResponse(
            .badGateway, .destinationFailed, category: .origin,
            message: "The result could not be stored at its destination.",
            detail: cause.response.detail ?? cause.response.message, upstreamStatus: cause.upstreamStatus)
    }
}

extension WorkerPool.Full: ServiceError {
    package var response: ErrorResponse {
        .overloaded(
            "The service is overloaded; try again shortly.",
            retryAfter: max(1, Int(delay.seconds.rounded(.up))))
    }
}

extension WorkerPool.Stopped: ServiceError {
    package var response: ErrorResponse { .shuttingDown }
}

extension MemoryBudget.Full: ServiceError {
    package var response: ErrorResponse {
        .overloaded("The service is out of memory; try again shortly.")
    }
}

extension WorkerUnavailable: ServiceError {
    package var response: ErrorResponse {
        .overloaded("The service is short of memory or file descriptors; try again shortly.", detail: detail)
    }
}

extension DeadlineExceeded: ServiceError {
    package var response: ErrorResponse {
        ErrorResponse(
            .gatewayTimeout, .deadlineExceeded, category: .timeout, message: "The thumbnail was not ready in time.")
    }
}
