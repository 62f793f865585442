public import Foundation

/// The problem document of a failed request (RFC 9457).
public struct Problem: Codable, Hashable, Sendable {
    /// A short text for the status.
    public let title: String
    /// The HTTP status.
    public let status: Int
    /// A sentence for people.
    public let detail: String
    /// The error code, such as `not_an_image`; the service's `openapi.yaml` lists them all.
    public let code: String
    /// The invalid parameter.
    public let parameter: String?
    /// The allowed values of the parameter, if they are a closed list.
    public let allowed: [String]?
    /// The known parameter closest to an unknown one.
    public let nearest: String?
    /// The status of the origin's response.
    public let upstreamStatus: Int?
    /// The ID under which the service logged the request.
    public let requestId: String?
}

/// The reason why a request failed.
public enum ClientError: Error, Sendable {
    /// The service rejected the request, or could not fulfill it.
    ///
    /// `retryAfter` is set if the same request may succeed after that time.
    case problem(Problem, retryAfter: Duration?)
    /// The service is unreachable, or the connection was lost.
    case transport(URLError)
    /// A response that does not come from the service, but for example from a proxy.
    case unexpected(status: Int, mediaType: String?)
    /// The response exceeds ``ThumbnailService/maximumAnswerBytes``.
    case tooLarge
    /// The task or the receipt was canceled.
    case cancelled

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
