/// The values behind an answer's `Cache-Control` and `Age`.
package struct Freshness: Hashable, Sendable {
    /// The permission of the source to store an answer.
    package enum Storability: Hashable, Sendable {
        /// Anyone may store it.
        case shared
        /// `Cache-Control: private`
        case `private`
        /// `Cache-Control: no-store`
        case none
    }

    /// Who may store the answer.
    package var storability: Storability
    /// Seconds for which the answer is fresh from its own birth (RFC 9111 section 4.2.1); nil if nothing is said about
    /// it.
    package var lifetime: Int?
    /// Seconds since the origin made or confirmed the source (RFC 9111 section 4.2.3); nil if it came from no cache.
    package var age: Int?
    /// Whether the lifetime is a guess, which holds only while it can be corrected.
    package var isGuessed = false

    /// The freshness of an answer.
    package init(storability: Storability = .shared, lifetime: Int? = nil, age: Int? = nil) {
        self.storability = storability
        self.lifetime = lifetime
        self.age = age
    }
}

extension Freshness {
    /// The value of `Cache-Control` (RFC 9111 section 5.2.2).
    ///
    /// If a source says nothing about its lifetime, the answer says `public` alone: a cache in front then applies its
    /// own default lifetime, as it would for the source itself. `no-cache` would have every view revalidated, and an
    /// invented `max-age` would make the thumbnail fresher than its source. Only if the target expires does the answer
    /// say `no-cache`, because a heuristic lifetime (section 4.2.2) could reach past the target's end.
    ///
    /// - Parameters:
    ///   - secondsLeft: Seconds until the target expires, which `max-age` does not exceed, even if `Age` would allow
    ///     more; nil if it never expires.
    ///   - staleAge: Seconds of `stale-while-revalidate` (RFC 5861 section 3), for targets that never expire; nil for
    ///     none.
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
