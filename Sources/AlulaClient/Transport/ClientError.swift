public import Foundation

/// The error of a failed request.
public enum ClientError: Error, Sendable {
    /// The service rejected the request, or could not fulfill it.
    ///
    /// `retryAfter` is set if the same request may succeed after that time.
    case problem(Problem, retryAfter: Duration?)
    /// The service is unreachable, or the connection was lost.
    case transport(URLError)
    /// The response does not come from the service, but for example from a proxy.
    case unexpected(status: Int, mediaType: String?)
    /// The response exceeds ``ThumbnailService/maximumResponseBytes`` or ``ThumbnailService/maximumPartBytes``.
    case tooLarge
    /// The task or the receipt was canceled.
    case cancelled
    /// The signing key has fewer than 32 bytes, or digits that are not hexadecimal.
    case invalidSigningKey
    /// The service's URL is not an absolute `http` or `https` URL, or has a query or a fragment.
    case invalidBaseURL(URL)
    /// The file to upload is missing, unreadable or not a regular file.
    case unreadableFile(URL)
    /// The platform cannot decode the image.
    case undecodable(mediaType: String)

    /// Whether the same request may succeed if it is sent again.
    public var isTransient: Bool {
        switch self {
        case .problem(let problem, let retryAfter): retryAfter != nil || [502, 503, 504].contains(problem.status)
        case .unexpected(let status, _): [502, 503, 504].contains(status)
        case .transport(let error):
            [
                .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
                .notConnectedToInternet, .badServerResponse,
            ].contains(error.code)
        case .tooLarge, .cancelled, .invalidSigningKey, .invalidBaseURL, .unreadableFile, .undecodable: false
        }
    }

    /// Converts any error.
    init(_ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case is CancellationError: self = .cancelled
        case let error as URLError where error.code == .cancelled: self = .cancelled
        default: self = .transport(error as? URLError ?? URLError(.unknown))
        }
    }
}

extension ClientError: LocalizedError {
    /// A sentence that says what failed, in English.
    public var errorDescription: String? {
        switch self {
        case .problem(let problem, _): problem.detail
        case .transport(let error): error.localizedDescription
        case .unexpected(let status, let mediaType):
            "The response is not from the thumbnail service: status \(status), type \(mediaType ?? "unknown")."
        case .tooLarge: "The response is too large."
        case .cancelled: "The request was canceled."
        case .invalidSigningKey: "The signing key is invalid."
        case .invalidBaseURL(let url): "“\(url)” cannot be the URL of a thumbnail service."
        case .unreadableFile(let url): "The file “\(url.lastPathComponent)” cannot be read."
        case .undecodable(let mediaType): "The image cannot be decoded: type \(mediaType)."
        }
    }

    /// A sentence with the reason, if the description does not state it.
    public var failureReason: String? {
        switch self {
        case .problem(let problem, _):
            problem.parameter.map { "The service answered \(problem.status), \(problem.code), because of “\($0)”." }
                ?? "The service answered \(problem.status), \(problem.code)."
        case .invalidSigningKey:
            "A key has at least 64 hexadecimal digits, which are 32 bytes; its ID is up to 64 letters, digits and marks."
        case .invalidBaseURL: "It must be an absolute http or https URL without a query and a fragment."
        case .transport, .unexpected, .tooLarge, .cancelled, .unreadableFile, .undecodable: nil
        }
    }

    /// A sentence with a possible solution.
    public var recoverySuggestion: String? {
        switch self {
        case .problem(_, .some(let time)):
            time.components.seconds > 1 ? "Try again in \(time.components.seconds) seconds." : "Try again in a second."
        case .problem(let problem, nil): problem.nearest.map { "Use “\($0)” instead." }
        default: isTransient ? "Try again later." : nil
        }
    }
}
