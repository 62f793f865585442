/// What a request asks of the caches on its way (RFC 9111 section 5.2.1).
package struct RequestCacheControl: Hashable, Sendable {
    /// Nothing stored may be used before its origin confirms it; `max-age=0` says the same.
    package var noCache = false
    /// Nothing may be read from a cache, or kept in one.
    package var noStore = false
    /// The origin must not be asked.
    package var onlyIfCached = false
    /// Greatest age in seconds of a stored response.
    package var maxAge: Int?
    /// Seconds for which the answer must stay fresh.
    package var minFresh: Int?
    /// Seconds of staleness that are accepted; `Int.max` for any.
    package var maxStale: Int?

    /// A request without directives.
    package static let none = RequestCacheControl()

    /// Asks for nothing.
    package init() {}

    /// Parses the joined value of all `Cache-Control` lines; nil stands for no field.
    package init(_ value: String?) {
        guard let value else { return }
        let control = CacheControl(value)
        maxAge = control.seconds("max-age")
        minFresh = control.seconds("min-fresh")
        maxStale = control.argument("max-stale").map { $0.isEmpty ? .max : control.seconds("max-stale") ?? 0 }
        noCache = control.contains("no-cache") || maxAge == 0
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
    }
}
