package import HTTPTypes

/// How a stored source may be used for one caller (RFC 9111 section 4).
package enum SourceReuse: Hashable, Sendable {
    /// It answers the caller.
    case usable
    /// It answers the caller, and its origin is asked in the background (RFC 5861 section 3).
    case usableWhileRevalidating
    /// Its origin has to be asked first.
    case needsValidation
}

/// How long stale sources may be used if their origin does not say; in seconds past their lifetime.
package struct StaleAllowances: Hashable, Sendable {
    /// While the source is validated in the background.
    package var whileRevalidating = 0
    /// While the origin fails.
    package var ifError = 86_400

    /// The defaults of the contract.
    package init() {}
}

extension SourceFreshness {
    /// How the source may be used at `now`, in seconds since 1970.
    ///
    /// - Parameters:
    ///   - now: The wall clock's time.
    ///   - request: The caller's directives; a stated limit of age or freshness is never exceeded.
    ///   - allowances: The limits that count if the source does not say.
    package func reuse(at now: Int, for request: RequestCacheControl, _ allowances: StaleAllowances) -> SourceReuse {
        guard storability == .shared, !request.noCache, !request.noStore, !alwaysNeedsValidation else {
            return .needsValidation
        }
        let remaining = remainingLifetime(at: now)
        if let limit = request.maxAge, age(at: now) > limit { return .needsValidation }
        if let limit = request.minFresh, remaining < limit { return .needsValidation }
        if remaining > 0 { return .usable }
        guard !forbidsStale else { return .needsValidation }
        if let limit = request.maxStale, -remaining <= limit { return .usable }
        let isWithinWindow = -remaining < staleWhileRevalidate ?? allowances.whileRevalidating
        return isWithinWindow ? .usableWhileRevalidating : .needsValidation
    }

    /// Whether the source may stand in at `now` for an answer that its origin could not give.
    package func isUsableOnError(at now: Int, for request: RequestCacheControl, _ allowances: StaleAllowances) -> Bool {
        guard storability == .shared, !request.noCache, !request.noStore, request.maxAge == nil, request.minFresh == nil
        else { return false }
        let remaining = remainingLifetime(at: now)
        // A remembered failure does not hide a copy that is fresh.
        if remaining > 0, !alwaysNeedsValidation { return true }
        return !forbidsStale && -remaining < staleIfError ?? allowances.ifError
    }
}
