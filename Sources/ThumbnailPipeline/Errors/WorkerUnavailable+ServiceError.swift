package import HTTPTypes
package import ImageSandbox

extension WorkerUnavailable: ServiceError {
    package var status: HTTPResponse.Status { .serviceUnavailable }
    package var code: String { "overloaded" }
    package var publicMessage: String { "The service has no room to work on the image; try again shortly." }
    package var logDetail: String? { detail }
    package var category: ErrorCategory { .overload }
    package var retryAfter: Int? { 1 }
}
