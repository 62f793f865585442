package import HTTPTypes

/// How a stored source may be used for one caller (RFC 9111 section 4).
package enum SourceReuse: Hashable, Sendable {
    case usable
    /// Usable while it is validated in the background (RFC 5861 section 3).
    case usableWhileRevalidating
    case needsValidation
}

extension SourceFreshness {
    /// - Parameters:
    ///   - now: In seconds since 1970.
    ///   - request: A stated limit of age or freshness is never exceeded.
    ///   - allowances: Apply if the source specifies none.
    package func reuse(at now: Int, for request: RequestCacheControl, _ allowances: StaleAllowances) -> SourceReuse {
        guard storability.isStorable, !request.noCache, !request.noStore, !alwaysNeedsValidation else {
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

    /// Returns whether the source may be used at `now` because its origin failed.
    ///
    /// - Parameter isHeld: An operator holds the origin: then any age will do.
    package func isUsableOnError(
        at now: Int, for request: RequestCacheControl, _ allowances: StaleAllowances, isHeld: Bool = false
    ) -> Bool {
        guard storability.isStorable, !request.noCache, !request.noStore, request.maxAge == nil, request.minFresh == nil
        else { return false }
        if isHeld { return true }
        let remaining = remainingLifetime(at: now)
        // A remembered failure does not hide a fresh copy.
        if remaining > 0, !alwaysNeedsValidation { return true }
        return !forbidsStale && -remaining < staleIfError ?? allowances.ifError
    }
}
