package import HTTPTypes

/// How a stored source may be used for a caller (RFC 9111 section 4).
package enum SourceReuse: Hashable, Sendable {
    case usable
    /// Usable during a background revalidation (RFC 5861 section 3).
    case usableWhileRevalidating
    case needsValidation
}

extension SourceFreshness {
    /// - Parameters:
    ///   - now: Seconds since 1970.
    ///   - request: The caller's directives, whose limits are never exceeded.
    ///   - staleAllowances: Used if the source specifies none.
    package func reuse(at now: Int, for request: RequestCacheControl, staleAllowances: StaleAllowances) -> SourceReuse {
        guard storability.isStorable, !request.noCache, !request.noStore, !alwaysNeedsValidation else {
            return .needsValidation
        }
        let remaining = remainingLifetime(at: now)
        if let limit = request.maxAge, age(at: now) > limit { return .needsValidation }
        if let limit = request.minFresh, remaining < limit { return .needsValidation }
        if remaining > 0 { return .usable }
        guard !forbidsStale else { return .needsValidation }
        if let limit = request.maxStale, -remaining <= limit { return .usable }
        let isWithinWindow = -remaining < staleWhileRevalidate ?? staleAllowances.whileRevalidating
        return isWithinWindow ? .usableWhileRevalidating : .needsValidation
    }

    /// Returns whether the source may be used at `now` because its origin failed.
    ///
    /// - Parameter isHeld: Whether an operator has paused the origin; a copy of any age is then usable.
    package func isUsableOnError(
        at now: Int, for request: RequestCacheControl, staleAllowances: StaleAllowances, isHeld: Bool = false
    ) -> Bool {
        guard storability.isStorable, !request.noCache, !request.noStore, request.maxAge == nil, request.minFresh == nil
        else { return false }
        if isHeld { return true }
        let remaining = remainingLifetime(at: now)
        // A fresh copy is usable even if the origin failed recently.
        if remaining > 0, !alwaysNeedsValidation { return true }
        return !forbidsStale && -remaining < staleIfError ?? staleAllowances.ifError
    }
}
