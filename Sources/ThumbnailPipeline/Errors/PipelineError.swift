import HTTPTypes

/// What goes wrong between the rooms.
enum PipelineError: Error, Equatable {
    /// The source's bytes are needed after all; the caller fetches them and tries again.
    case sourceNeeded
    /// A placeholder of the request's box would exceed the limits.
    case placeholderTooLarge
}

extension PipelineError: ServiceError {
    var status: HTTPResponse.Status { self == .placeholderTooLarge ? .unprocessableContent : .internalServerError }
    var code: String { self == .placeholderTooLarge ? "too_many_pixels" : "internal" }
    var publicMessage: String {
        self == .placeholderTooLarge
            ? "The placeholder would have too many pixels." : "Something went wrong inside the service."
    }
    var category: ErrorCategory { self == .placeholderTooLarge ? .request : .internal }
}
