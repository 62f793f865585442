package struct Freshness: Hashable, Sendable {
    package enum Storability: Hashable, Sendable {
        case shared
        case `private`
        case none
    }

    package var storability: Storability
    /// The seconds from the creation of the response (RFC 9111 section 4.2.1); nil if unspecified.
    package var lifetime: Int?
    /// The seconds since the origin created or validated the source (RFC 9111 section 4.2.3); nil if it came from no
    /// cache.
    package var age: Int?
    /// Whether the lifetime is a guess, which applies only while it can be corrected.
    package var isGuessed = false

    package init(storability: Storability = .shared, lifetime: Int? = nil, age: Int? = nil) {
        self.storability = storability
        self.lifetime = lifetime
        self.age = age
    }
}

extension Freshness {
    /// Returns the value of `Cache-Control` (RFC 9111 section 5.2.2).
    ///
    /// If a source specifies no lifetime, the value is `public` alone: a cache in front then applies its own default
    /// lifetime, as it would for the source itself. `no-cache` would have every view revalidated, and an invented
    /// `max-age` would make the thumbnail fresher than its source. Only if the target expires is the value `no-cache`,
    /// because a heuristic lifetime (section 4.2.2) could exceed the target's.
    ///
    /// - Parameters:
    ///   - secondsLeft: The time until the target expires, which limits `max-age` even if `Age` would allow more.
    ///   - staleAge: `stale-while-revalidate` in seconds (RFC 5861 section 3), for targets that never expire.
    package func cacheControl(secondsLeft: Int? = nil, staleAge: Int? = nil) -> String {
        let prefix: String
        switch storability {
        case .none: return "no-store"
        case .private: prefix = "private"
        case .shared: prefix = "public"
        }
        guard let lifetime else { return secondsLeft == nil ? prefix : "\(prefix), no-cache" }
        let text = "\(prefix), max-age=\(max(0, min(lifetime, secondsLeft ?? lifetime)))"
        guard let staleAge, secondsLeft == nil, storability == .shared else { return text }
        return text + ", stale-while-revalidate=\(staleAge)"
    }
}
