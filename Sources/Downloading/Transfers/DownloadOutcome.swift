package enum DownloadOutcome: String, Sendable, CaseIterable {
    case success
    case notModified = "not_modified"
    case canceled = "cancelled"
    case notAllowed = "not_allowed"
    case unreachable
    case protocolError = "protocol_error"
    case tlsError = "tls_error"
    case tooManyRedirects = "too_many_redirects"
    case status
    case notFound = "not_found"
    case timedOut = "timeout"
    case tooLarge = "too_large"
    case notAnImage = "not_an_image"
    case suspended
    case held
    case failed

    init(_ error: any Error) {
        guard let error = error as? DownloadError else {
            self = error is CancellationError ? .canceled : .failed
            return
        }
        switch error {
        case .sourceNotAllowed: self = .notAllowed
        case .unreachable, .noAddress: self = .unreachable
        case .protocolError, .unexpectedResponse, .undecodable: self = .protocolError
        case .tls: self = .tlsError
        case .tooManyRedirects: self = .tooManyRedirects
        case .status, .storeRejection, .accessDenied: self = .status
        case .notFound: self = .notFound
        case .timedOut: self = .timedOut
        case .tooLarge: self = .tooLarge
        case .notAnImage, .emptyBody: self = .notAnImage
        case .originSuspended: self = .suspended
        case .originHeld: self = .held
        case .receiptCanceled, .shuttingDown: self = .canceled
        case .queueFull, .memoryFull, .notCached, .internal: self = .failed
        }
    }
}
