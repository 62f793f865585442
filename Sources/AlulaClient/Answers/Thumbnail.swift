public import Foundation

/// An encoded image, as the service sent it.
public struct Thumbnail: Hashable, Sendable {
    /// The file.
    public let data: Data
    /// The media type, such as `image/webp`.
    public let mediaType: String
    /// The entity tag, with its quotes.
    public let entityTag: String?
    /// Why this is the request's placeholder, such as `source_not_found`; nil for the image itself.
    public let failure: String?
    /// How long it may be shown without another request; zero if it must not be stored.
    public let lifetime: Duration

    /// An image that came from elsewhere, such as a placeholder.
    public init(data: Data, mediaType: String) {
        (self.data, self.mediaType) = (data, mediaType)
        (entityTag, failure, lifetime) = (nil, nil, .zero)
    }

    init(data: Data, field: (String) -> String?) {
        self.data = data
        mediaType = field("Content-Type") ?? "application/octet-stream"
        entityTag = field("ETag")
        failure = field("Alula-Error")
        lifetime = Self.lifetime(cacheControl: field("Cache-Control") ?? "", age: field("Age"))
    }

    private static func lifetime(cacheControl: String, age: String?) -> Duration {
        let directives = cacheControl.lowercased().split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        if directives.contains("no-store") || directives.contains("no-cache") { return .zero }
        let limit = directives.first { $0.hasPrefix("max-age=") }.flatMap { Int($0.dropFirst(8)) } ?? 0
        return .seconds(max(0, limit - (age.flatMap { Int($0) } ?? 0)))
    }
}
