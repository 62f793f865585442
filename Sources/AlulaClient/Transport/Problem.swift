public import Foundation

/// Why the service made no image or told no facts: its problem document (RFC 9457).
public struct Problem: Codable, Hashable, Sendable {
    /// The status in words.
    public let title: String
    /// The status of the answer.
    public let status: Int
    /// A sentence for people.
    public let detail: String
    /// The reason in one word, such as `not_an_image`; the service's `openapi.yaml` lists all.
    public let code: String
    /// The offending parameter.
    public let parameter: String?
    /// The values that the parameter may have, if they are a closed list.
    public let allowed: [String]?
    /// The known parameter that an unknown one is nearest to.
    public let nearest: String?
    /// The status that the origin answered with.
    public let upstreamStatus: Int?
    /// The id under which the service logged the request.
    public let requestId: String?
}

/// Why there is no answer to a request.
public enum ClientError: Error, Sendable {
    /// The service refused, or could not do what it was asked for.
    ///
    /// `retryAfter` is set if the same request may work after that time.
    case problem(Problem, retryAfter: Duration?)
    /// No service could be reached, or the connection broke.
    case transport(URLError)
    /// An answer that no service of this kind gives, such as that of a proxy.
    case unexpected(status: Int, mediaType: String?)
    /// The answer has more bytes than ``ThumbnailService/maximumAnswerBytes``.
    case tooLarge
    /// The task or the receipt was cancelled.
    case cancelled

    /// An error of any type as one of these.
    init(_ error: any Error) {
        switch error {
        case let error as ClientError: self = error
        case is CancellationError: self = .cancelled
        case let error as URLError where error.code == .cancelled: self = .cancelled
        default: self = .transport(error as? URLError ?? URLError(.unknown))
        }
    }
}
