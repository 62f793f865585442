package import Coordination
package import HTTPTypes
package import ImageSandbox

extension WorkerPool.Full: ServiceError {
    package var status: HTTPResponse.Status { .serviceUnavailable }
    package var code: String { "overloaded" }
    package var publicMessage: String { "The service has more images to work on than it can take; try again shortly." }
    package var category: ErrorCategory { .overload }
    package var retryAfter: Int? { max(1, Int(delay.seconds.rounded(.up))) }
}

extension WorkerPool.Stopped: ServiceError {
    package var status: HTTPResponse.Status { .serviceUnavailable }
    package var code: String { "draining" }
    package var publicMessage: String { "The service is shutting down." }
    package var category: ErrorCategory { .overload }
    package var retryAfter: Int? { 1 }
}

extension MemoryBudget.Full: ServiceError {
    package var status: HTTPResponse.Status { .serviceUnavailable }
    package var code: String { "overloaded" }
    package var publicMessage: String { "The service has no memory to spare at the moment; try again shortly." }
    package var category: ErrorCategory { .overload }
    package var retryAfter: Int? { 1 }
}

extension WorkerUnavailable: ServiceError {
    package var status: HTTPResponse.Status { .serviceUnavailable }
    package var code: String { "overloaded" }
    package var publicMessage: String { "The service has no room to work on the image; try again shortly." }
    package var logDetail: String? { detail }
    package var category: ErrorCategory { .overload }
    package var retryAfter: Int? { 1 }
}

extension DeadlineExceeded: ServiceError {
    package var status: HTTPResponse.Status { .gatewayTimeout }
    package var code: String { "deadline_exceeded" }
    package var publicMessage: String { "The thumbnail was not ready in time." }
    package var category: ErrorCategory { .timeout }
}
