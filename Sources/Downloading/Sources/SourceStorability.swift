import HTTPTypes

/// The caches that may store an origin's response (RFC 9111 section 3).
package enum SourceStorability: Hashable, Sendable {
    case shared
    /// No shared cache may store it: the status needs a stated lifetime, or is unknown to this cache.
    case unstated
    case `private`
    /// No cache may store it: `no-store`.
    case none

    /// Statuses of responses with an image that may be stored without a stated lifetime (RFC 9110 section 15.1).
    private static let heuristicallyCacheable: Set<Int> = [200, 203]

    /// `private` and `no-cache` apply to the whole response even if they name fields, as sections 5.2.2.4 and 5.2.2.7
    /// allow.
    init(status: Int, control: CacheControl, hasExpires: Bool) {
        let isUnderstood = Self.heuristicallyCacheable.contains(status)
        let mustUnderstand = control.contains("must-understand")
        if control.contains("private") {
            self = control.contains("no-store") && !(mustUnderstand && isUnderstood) ? .none : .private
        } else if mustUnderstand {
            self = isUnderstood ? .shared : control.contains("no-store") ? .none : .unstated
        } else if control.contains("no-store") {
            self = .none
        } else {
            let isStated =
                hasExpires || ["public", "max-age", "s-maxage"].contains { control.contains($0) } || isUnderstood
            self = isStated ? .shared : .unstated
        }
    }
}
