import HTTPTypes

/// How long a fetched source may be used without asking its origin again, and by whom it may be stored.
struct SourceFreshness: Hashable, Sendable {
    /// Who may store it and what was made from it.
    let storability: Freshness.Storability
    /// Seconds of freshness by the origin's word (RFC 9111 section 4.2.1); nil where it says nothing: fresh while it is cached.
    let lifetime: Int?
    /// Age on arrival in seconds (RFC 9111 section 4.2.3).
    private let initialAge: Int
    private let receivedAt: Int

    /// Reads the origin's header fields as a shared cache does: `no-cache` leaves no lifetime, `s-maxage` beats `max-age` beats `Expires`.
    init(headerFields: HTTPFields, receivedAt: HTTPDate) {
        let control = CacheControl(headerFields[.cacheControl])
        storability =
            control.contains("no-store") ? .none : control.contains("private") ? .private : .shared
        let date = headerFields[.date].flatMap { HTTPDate($0, now: receivedAt) } ?? receivedAt
        lifetime = Self.lifetime(control: control, expires: headerFields[.expires], date: date, now: receivedAt)
        initialAge = max(
            Self.statedAge(headerFields.values(of: .age)), receivedAt.secondsSince1970 - date.secondsSince1970)
        self.receivedAt = receivedAt.secondsSince1970
    }

    /// Seconds since the origin made the source, at `now` in seconds since 1970; never negative, even when the clock was set back.
    func age(at now: Int) -> Int { initialAge + max(0, now - receivedAt) }

    /// Whether it may be used at `now` without asking.
    func isFresh(at now: Int) -> Bool {
        guard storability == .shared else { return false }
        return lifetime.map { age(at: now) < $0 } ?? true
    }

    /// The first number counts (RFC 9111 section 5.1), at most 2³¹ (section 1.2.2); what is no number is ignored.
    private static func statedAge(_ values: [String]) -> Int {
        guard let text = values.first.flatMap({ HTTPSyntax.list($0).first }),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return 0 }
        return min(Int(text) ?? .max, 1 << 31)
    }

    private static func lifetime(control: CacheControl, expires: String?, date: HTTPDate, now: HTTPDate) -> Int? {
        if control.contains("no-cache") { return 0 }
        if let seconds = control.seconds("s-maxage") ?? control.seconds("max-age") { return seconds }
        guard let expires else { return nil }
        guard let end = HTTPDate(expires, now: now) else { return 0 }
        return max(0, end.secondsSince1970 - date.secondsSince1970)
    }
}
