package import HTTPTypes
import Text

/// How long an origin's response is fresh and how it may be used when stale (RFC 9111).
///
/// Follows the rules for a shared cache or, for origins that receive client fields, for private caches. Durations are
/// whole seconds; times are seconds since 1970.
package struct SourceFreshness: Hashable, Sendable {
    package let storability: SourceStorability
    /// Whether only memory may store it: a private source that the origin does not declare `public`.
    package let isMemoryOnly: Bool
    /// The lifetime in seconds since the response was made (section 4.2.1, or 4.2.2 if it is not stated).
    package let lifetime: Int
    /// Whether the origin states the lifetime; otherwise it is a heuristic.
    package let isLifetimeKnown: Bool
    package let isLifetimeGuessed: Bool
    /// Whether the origin must confirm every use: `no-cache`, or `Vary: *`.
    package let alwaysNeedsValidation: Bool
    /// Whether the response must never be used stale (section 4.2.4).
    package let forbidsStale: Bool
    /// Seconds past the lifetime for which it may be used during validation; nil if unspecified.
    package let staleWhileRevalidate: Int?
    /// Seconds past the lifetime for which it may be used while its origin fails; nil if unspecified.
    package let staleIfError: Int?

    /// `corrected_initial_age` of section 4.2.3.
    private let initialAge: Int
    private let receivedAt: Int

    /// A source without a stated lifetime is validated after an hour.
    private static let assumedLifetime = 3_600
    /// A lifetime guessed from `Last-Modified` never exceeds a day.
    private static let maximumHeuristicLifetime = 86_400

    /// - Parameters:
    ///   - requestedAt: When the request was sent.
    ///   - isPrivate: Whether client fields are forwarded to the origin. Each use then needs validation, unless the
    ///     origin states a lifetime.
    package init(
        status: Int, headerFields: HTTPFields, requestedAt: HTTPDate, receivedAt: HTTPDate, isPrivate: Bool = false
    ) {
        let control = CacheControl(headerFields[.cacheControl])
        let expires = headerFields[.expires]
        let storability = SourceStorability(status: status, control: control, hasExpires: expires != nil)
        self.storability = isPrivate ? storability.ofPrivateSource(status: status, control: control) : storability
        isMemoryOnly = isPrivate && (self.storability != .shared || !control.contains("public"))

        let statedDate = headerFields[.date].flatMap { HTTPDate($0, now: receivedAt) }
        let date = statedDate ?? receivedAt
        let stated = Self.statedLifetime(control: control, expires: expires, date: date, now: receivedAt)
        let guessed = stated == nil ? Self.heuristicLifetime(headerFields[.lastModified], date: date) : nil
        let variesByAnything = HTTPSyntax.list(headerFields[.vary] ?? "").contains("*")
        alwaysNeedsValidation = control.contains("no-cache") || variesByAnything || isPrivate && stated == nil
        lifetime = alwaysNeedsValidation ? 0 : stated ?? guessed ?? Self.assumedLifetime
        isLifetimeGuessed = !alwaysNeedsValidation && guessed != nil
        isLifetimeKnown = alwaysNeedsValidation || stated != nil || guessed != nil

        forbidsStale =
            alwaysNeedsValidation
            || ["must-revalidate", "proxy-revalidate", "s-maxage"].contains { control.contains($0) }
        staleWhileRevalidate = control.seconds("stale-while-revalidate")
        staleIfError = control.seconds("stale-if-error")

        let apparentAge = max(0, receivedAt.secondsSince1970 - date.secondsSince1970)
        let delay = max(0, receivedAt.secondsSince1970 - requestedAt.secondsSince1970)
        initialAge = max(apparentAge, Self.statedAge(headerFields.values(of: .age)) + delay)
        self.receivedAt = receivedAt.secondsSince1970
    }

    /// The age in seconds; not negative even if the clock was set back.
    package func age(at now: Int) -> Int { initialAge + max(0, now - receivedAt) }

    package func isFresh(at now: Int) -> Bool { storability.isStorable && age(at: now) < lifetime }

    package func remainingLifetime(at now: Int) -> Int { lifetime - age(at: now) }

    /// The lifetime by `s-maxage`, else `max-age`, else `Expires`; an invalid value means stale (section 4.2.1).
    private static func statedLifetime(control: CacheControl, expires: String?, date: HTTPDate, now: HTTPDate) -> Int? {
        if let seconds = control.seconds("s-maxage") ?? control.seconds("max-age") { return seconds }
        guard let expires else { return nil }
        guard let end = HTTPDate(expires, now: now) else { return 0 }
        return max(0, end.secondsSince1970 - date.secondsSince1970)
    }

    private static func heuristicLifetime(_ lastModified: String?, date: HTTPDate) -> Int? {
        guard let lastModified = lastModified.flatMap({ HTTPDate($0, now: date) }) else { return nil }
        let unchanged = max(0, date.secondsSince1970 - lastModified.secondsSince1970)
        return min(unchanged / 10, maximumHeuristicLifetime)
    }

    /// Parses the first value of `Age` (section 5.1), at most 2³¹ (section 1.2.2); ignores invalid values.
    private static func statedAge(_ values: [String]) -> Int {
        guard let text = values.first.flatMap({ HTTPSyntax.list($0).first }),
            text.utf8.allSatisfy(\.isASCIIDigit)
        else { return 0 }
        return min(Int(text) ?? .max, 1 << 31)
    }
}
