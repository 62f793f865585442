import HTTPTypes

/// Failures of the pipeline itself.
enum PipelineError: Error, Equatable {
    /// The source's bytes are needed after all; the caller fetches them and tries again.
    case sourceNeeded
    /// A placeholder of the request's box would exceed the limits.
    case placeholderTooLarge
    /// As many prefetch jobs are under way as are allowed.
    case tooManyPrefetchJobs
    /// As many purges wait for the shared cache as are allowed.
    case tooManyPurges
}

extension PipelineError: ServiceError {
    var status: HTTPResponse.Status {
        switch self {
        case .sourceNeeded: .internalServerError
        case .placeholderTooLarge: .unprocessableContent
        case .tooManyPrefetchJobs, .tooManyPurges: .serviceUnavailable
        }
    }

    var code: String {
        switch self {
        case .sourceNeeded: "internal"
        case .placeholderTooLarge: "too_many_pixels"
        case .tooManyPrefetchJobs, .tooManyPurges: "overloaded"
        }
    }

    var publicMessage: String {
        switch self {
        case .sourceNeeded: "Something went wrong inside the service."
        case .placeholderTooLarge: "The placeholder would have too many pixels."
        case .tooManyPrefetchJobs: "Too many prefetch jobs are under way."
        case .tooManyPurges: "Too many purges wait for the shared cache; this instance alone is purged."
        }
    }

    var category: ErrorCategory {
        switch self {
        case .sourceNeeded: .internal
        case .placeholderTooLarge: .request
        case .tooManyPrefetchJobs, .tooManyPurges: .overload
        }
    }

    var retryAfter: Int? { self == .tooManyPrefetchJobs || self == .tooManyPurges ? 30 : nil }
}
