import HTTPTypes

/// Which caches may store an origin's answer (RFC 9111 section 3).
package enum SourceStorability: Hashable, Sendable {
    /// A shared cache may.
    case shared
    /// A shared cache may not, though nothing forbids it: the status needs a stated lifetime, or this cache does not
    /// know its meaning.
    case unstated
    /// Only the client: `private`.
    case `private`
    /// No cache: `no-store`.
    case none

    /// Statuses that may be stored without a stated lifetime (RFC 9110 section 15.1), of those with an image.
    private static let heuristicallyCacheable: Set<Int> = [200, 203]

    /// Judges an answer with an image.
    ///
    /// `private` and `no-cache` count for the whole answer even if they name fields, as sections 5.2.2.4 and 5.2.2.7
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
