import HTTPTypes

/// Failures of the pipeline itself.
enum PipelineError: Error, Equatable {
    /// The source's bytes are needed after all; the caller fetches them and tries again.
    case sourceNeeded
    /// A placeholder of the request's box would exceed the limits.
    case placeholderTooLarge
    /// As many prefetch jobs are under way as are allowed.
    case tooManyPrefetchJobs
}

extension PipelineError: ServiceError {
    var status: HTTPResponse.Status {
        switch self {
        case .sourceNeeded: .internalServerError
        case .placeholderTooLarge: .unprocessableContent
        case .tooManyPrefetchJobs: .serviceUnavailable
        }
    }

    var code: String {
        switch self {
        case .sourceNeeded: "internal"
        case .placeholderTooLarge: "too_many_pixels"
        case .tooManyPrefetchJobs: "overloaded"
        }
    }

    var publicMessage: String {
        switch self {
        case .sourceNeeded: "Something went wrong inside the service."
        case .placeholderTooLarge: "The placeholder would have too many pixels."
        case .tooManyPrefetchJobs: "Too many prefetch jobs are under way."
        }
    }

    var category: ErrorCategory {
        switch self {
        case .sourceNeeded: .internal
        case .placeholderTooLarge: .request
        case .tooManyPrefetchJobs: .overload
        }
    }

    var retryAfter: Int? { self == .tooManyPrefetchJobs ? 30 : nil }
}
