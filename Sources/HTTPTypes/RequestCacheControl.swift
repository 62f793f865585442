/// RFC 9111 section 5.2.1.
package struct RequestCacheControl: Hashable, Sendable {
    /// `max-age=0` sets it, too.
    package var noCache = false
    package var noStore = false
    package var onlyIfCached = false
    package var maxAge: Int?
    /// In seconds.
    package var minFresh: Int?
    /// In seconds; `Int.max` for no limit.
    package var maxStale: Int?

    package static let none = RequestCacheControl()

    package init() {}

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
