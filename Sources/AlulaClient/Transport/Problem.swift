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
    public let requestID: String?

    private enum CodingKeys: String, CodingKey {
        case title, status, detail, code, parameter, allowed, nearest, upstreamStatus
        case requestID = "requestId"
    }
}
