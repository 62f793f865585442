public import Foundation

/// An encoded image, as sent by the service.
public struct Thumbnail: Hashable, Sendable {
    /// The encoded file.
    public let data: Data
    /// The media type, such as `image/webp`.
    public let mediaType: String
    /// The entity tag, in quotes.
    public private(set) var entityTag: String?
    /// The error code, such as `source_not_found`, if this is the request's placeholder; nil for the image itself.
    public let failure: String?
    /// The time for which the image may be shown without another request; zero if it must not be stored.
    public internal(set) var lifetime: Duration

    /// Creates an image that does not come from the service, such as a placeholder.
    public init(data: Data, mediaType: String) {
        self.data = data
        self.mediaType = mediaType
        entityTag = nil
        failure = nil
        lifetime = .zero
    }

    /// Creates an image from a cache.
    init(data: Data, mediaType: String, entityTag: String?) {
        self.init(data: data, mediaType: mediaType)
        self.entityTag = entityTag
    }

    /// Creates an image from the service's response.
    init(data: Data, now: Date = .now, field: (String) -> String?) {
        self.data = data
        mediaType = field("Content-Type") ?? "application/octet-stream"
        failure = field("Alula-Error")
        lifetime = .zero
        refresh(now: now, field: field)
    }

    /// Sets entity tag and lifetime from a response with the image, or from a 304.
    mutating func refresh(now: Date = .now, field: (String) -> String?) {
        entityTag = field("ETag") ?? entityTag
        // An HTTP cache of the session returns responses unchanged, so the time since then counts (RFC 9111, section
        // 4.2.3).
        let apparentAge = field("Date").flatMap(Self.date).map { now.timeIntervalSince($0) } ?? 0
        let age = max(Self.seconds(field("Age") ?? ""), Int(min(max(0, apparentAge), 1e9)))
        lifetime = .seconds(max(0, Self.lifetime(cacheControl: field("Cache-Control") ?? "") - age))
    }

    /// Returns the lifetime of a response in seconds.
    private static func lifetime(cacheControl: String) -> Int {
        let directives = cacheControl.lowercased().split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        if directives.contains("no-store") || directives.contains("no-cache") { return 0 }
        return directives.first { $0.hasPrefix("max-age=") }.map { seconds($0.dropFirst(8)) } ?? 0
    }

    /// Parses a number of seconds in a field; 0 if it is invalid.
    private static func seconds(_ text: some StringProtocol) -> Int { max(0, Int(text) ?? 0) }

    /// Parses a date in a field (RFC 9110, section 5.6.7).
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
