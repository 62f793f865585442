package import Coordination
package import HTTPTypes

extension MemoryBudget.Full: ServiceError {
    package var status: HTTPResponse.Status { .serviceUnavailable }
    package var code: String { "overloaded" }
    package var publicMessage: String { "The service has no memory to spare at the moment; try again shortly." }
    package var category: ErrorCategory { .overload }
    package var retryAfter: Int? { 1 }
}
