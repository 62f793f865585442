import HTTPTypes

/// The caches that may store an origin's response (RFC 9111 section 3).
package enum SourceStorability: Hashable, Sendable {
    case shared
    /// Storable only in memory, for clients that sent the same fields.
    case perClient
    /// Not storable in shared caches: the status requires a stated lifetime, or is unknown.
    case unstated
    case `private`
    /// Not storable in any cache: `no-store`.
    case none

    /// Statuses that are storable without a stated lifetime (RFC 9110 section 15.1).
    private static let heuristicallyCacheable: Set<Int> = [200, 203]

    /// Whether memory may store it.
    package var isStorable: Bool { self == .shared || self == .perClient }

    /// Applies `private` and `no-cache` to the whole response even if they name fields (sections 5.2.2.4, 5.2.2.7).
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

    /// Shares a private source only if the origin allows it (RFC 9111 section 3.5); else applies private-cache rules.
    func ofPrivateSource(status: Int, control: CacheControl) -> SourceStorability {
        switch self {
        case .shared where control.contains("public") || control.contains("s-maxage"): .shared
        case .shared: .perClient
        case .private:
            ["max-age", "s-maxage"].contains { control.contains($0) } || Self.heuristicallyCacheable.contains(status)
                ? .perClient : .private
        case .unstated: .private
        case .perClient, .none: self
        }
    }
}
