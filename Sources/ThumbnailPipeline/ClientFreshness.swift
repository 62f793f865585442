import Downloading

/// Bounds that an operator sets on how long clients may use an answer; in seconds from its arrival there.
package struct ClientMaxAge: Hashable, Sendable {
    /// Answers are fresh for at least this long.
    package var minimum: Int?
    /// Answers are fresh for at most this long.
    package var maximum: Int?
    /// Answers are fresh for just this long, whatever their source says.
    package var fixed: Int?

    /// No bounds: what the source says.
    package init() {}
}

extension Freshness {
    /// What clients are told of an answer made from a source with this freshness.
    ///
    /// Without bounds it is the source's own lifetime with its age. Where a bound takes effect, `max-age` counts from now, and no
    /// age goes with it. What is `private` or `no-store` stays so.
    ///
    /// - Parameters:
    ///   - source: What the origin said.
    ///   - now: The wall clock's seconds since 1970.
    ///   - isFromCache: Whether the answer was made without asking the origin.
    ///   - bounds: The operator's.
    init(_ source: SourceFreshness, at now: Int, isFromCache: Bool, bounds: ClientMaxAge) {
        let age = source.age(at: now)
        storability = Storability(source.storability)
        self.age = isFromCache || age > 0 ? age : nil
        lifetime = source.storability == .unstated ? 0 : source.isLifetimeKnown ? source.lifetime : nil
        guard storability == .shared, bounds != ClientMaxAge() else { return }
        let remaining = lifetime.map { max(0, $0 - age) }
        let bounded = bounds.fixed ?? Self.bound(remaining, by: bounds)
        guard bounded != remaining else { return }
        lifetime = bounded
        self.age = nil
    }

    /// Seconds for which an answer made from a source that lacks pixels may be kept, here and elsewhere.
    static let longestOfIncomplete = 60

    /// Lets nobody keep the answer for more than so many seconds from now; where that takes effect no age goes with it.
    mutating func limit(to seconds: Int) {
        guard storability != .none else { return }
        let remaining = lifetime.map { max(0, $0 - (age ?? 0)) }
        if let remaining, remaining <= seconds { return }
        (lifetime, age) = (seconds, nil)
    }

    private static func bound(_ remaining: Int?, by bounds: ClientMaxAge) -> Int? {
        guard let remaining else { return bounds.minimum ?? bounds.maximum }
        return min(max(remaining, bounds.minimum ?? remaining), bounds.maximum ?? .max)
    }
}

extension Freshness.Storability {
    init(_ storability: SourceStorability) {
        switch storability {
        case .shared, .unstated: self = .shared
        case .private: self = .private
        case .none: self = .none
        }
    }
}
