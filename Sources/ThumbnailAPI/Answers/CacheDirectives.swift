import ThumbnailPipeline

/// Writes `Cache-Control` of a thumbnail (RFC 9111 section 5.2.2).
enum CacheDirectives {
    /// The field's value.
    ///
    /// A source that says nothing about its lifetime is answered with `public` alone: whoever is in front then applies
    /// its own default lifetime, as it would for the source itself. `no-cache` would have every view revalidated, and an invented
    /// `max-age` would make the thumbnail fresher than its source. Only where the target has an end does silence become `no-cache`,
    /// for a heuristic lifetime (section 4.2.2) could reach past it.
    ///
    /// - Parameters:
    ///   - freshness: What the source allows.
    ///   - secondsLeft: Seconds until the target expires, where it does. `max-age` stays within them even where `Age`
    ///     would have allowed more.
    static func text(_ freshness: Freshness, secondsLeft: Int?) -> String {
        let prefix: String
        switch freshness.storability {
        case .none: return "no-store"
        case .private: prefix = "private"
        case .shared: prefix = "public"
        }
        guard let lifetime = freshness.lifetime else { return secondsLeft == nil ? prefix : "\(prefix), no-cache" }
        return "\(prefix), max-age=\(max(0, min(lifetime, secondsLeft ?? lifetime)))"
    }
}
