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

    /// An image that the service sent, with the fields of its answer.
    init(data: Data, now: Date = .now, field: (String) -> String?) {
        self.data = data
        mediaType = field("Content-Type") ?? "application/octet-stream"
        entityTag = field("ETag")
        failure = field("Alula-Error")
        // An HTTP cache of the session gives answers back as they came, so the time since then counts (RFC 9111,
        // section 4.2.3).
        let apparentAge = field("Date").flatMap(Self.date).map { now.timeIntervalSince($0) } ?? 0
        let age = max(Self.seconds(field("Age") ?? ""), Int(min(max(0, apparentAge), 1e9)))
        lifetime = .seconds(max(0, Self.lifetime(cacheControl: field("Cache-Control") ?? "") - age))
    }

    /// Seconds that an answer is fresh.
    private static func lifetime(cacheControl: String) -> Int {
        let directives = cacheControl.lowercased().split(separator: ",").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        if directives.contains("no-store") || directives.contains("no-cache") { return 0 }
        return directives.first { $0.hasPrefix("max-age=") }.map { seconds($0.dropFirst(8)) } ?? 0
    }

    /// A number of seconds in a field; 0 if it is none.
    private static func seconds(_ text: some StringProtocol) -> Int { max(0, Int(text) ?? 0) }

    /// A date in a field (RFC 9110, section 5.6.7).
    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.date(from: text)
    }
}
