package import Coordination
import HTTPTypes
package import Imaging
package import ThumbnailTypes

enum PipelineError: Error, Equatable {
    /// A decode found neither pixels nor source bytes; its caller fetches the bytes and tries again.
    case missingBytes
    case placeholderTooLarge
    case tooManyPurges
}

extension PipelineError: ServiceError {
    var response: ErrorResponse {
        switch self {
        case .missingBytes: .internal()
        case .placeholderTooLarge:
            ErrorResponse(
                .unprocessableContent, code: .tooManyPixels, category: .request,
                message: "The placeholder would have too many pixels.")
        case .tooManyPurges:
            .overloaded("The shared cache's purge queue is full; only this instance was purged.", retryAfter: 30)
        }
    }
}

extension WorkerPool.Full: ServiceError {
    package var response: ErrorResponse {
        .overloaded(
            "The service is overloaded; try again shortly.", retryAfter: max(1, Int(delay.seconds.rounded(.up))))
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
            .gatewayTimeout, code: .deadlineExceeded, category: .timeout,
            message: "The thumbnail was not ready in time.")
    }
}
