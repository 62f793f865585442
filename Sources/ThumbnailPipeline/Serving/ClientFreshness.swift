import Downloading
import ThumbnailTypes

extension Freshness {
    /// Seconds for which an answer made from a source that lacks pixels may be kept, here and elsewhere.
    static let longestOfIncomplete = 60

    /// The freshness that clients are told of an answer made from a source with this freshness.
    ///
    /// Without bounds it is the source's own lifetime with its age. If a bound takes effect, `max-age` counts from now,
    /// without an age. What is `private` or `no-store` stays so.
    ///
    /// - Parameters:
    ///   - source: The source's freshness, by its origin.
    ///   - now: The wall clock's seconds since 1970.
    ///   - isFromCache: Whether the answer was made without asking the origin.
    ///   - bounds: The operator's.
    init(_ source: SourceFreshness, at now: Int, isFromCache: Bool, bounds: ClientMaxAge) {
        self.init(source, at: now, isFromCache: isFromCache)
        bound(by: bounds)
    }

    /// The freshness that clients are told of an answer made from several sources: it is as fresh as the least fresh of
    /// them, and only caches that may store all of them may store it.
    ///
    /// - Parameters:
    ///   - sources: The sources' freshness.
    ///   - isFromCache: Which of them came without asking their origins; nil stands for all of them.
    ///   - now: The wall clock's seconds since 1970.
    ///   - bounds: The operator's.
    init(
        leastOf sources: PerSource<SourceFreshness>, isFromCache: PerSource<Bool>?, at now: Int, bounds: ClientMaxAge
    ) {
        var (least, place) = (sources.image, 0)
        var storability = Storability(least.storability)
        for (index, source) in sources.additional.enumerated() {
            storability = storability.stricter(Storability(source.storability))
            guard source.clientLifetime(at: now) < least.clientLifetime(at: now) else { continue }
            (least, place) = (source, index + 1)
        }
        self.init(least, at: now, isFromCache: isFromCache?[place] ?? true)
        self.storability = storability
        bound(by: bounds)
    }

    /// The freshness of the source itself.
    private init(_ source: SourceFreshness, at now: Int, isFromCache: Bool) {
        let age = source.age(at: now)
        self.init(
            storability: Storability(source.storability),
            lifetime: source.storability == .unstated ? 0 : source.isLifetimeKnown ? source.lifetime : nil,
            age: isFromCache || age > 0 ? age : nil)
        isGuessed = source.storability != .unstated && source.isLifetimeGuessed
    }

    /// Applies the operator's bounds to answers that shared caches may store.
    private mutating func bound(by bounds: ClientMaxAge) {
        guard storability == .shared, bounds != ClientMaxAge() else { return }
        let remaining = remaining
        let bounded = bounds.fixed ?? Self.bound(remaining, by: bounds)
        guard bounded != remaining else { return }
        (lifetime, age, isGuessed) = (bounded, nil, false)
    }

    /// This freshness of a result under the name of an image in hand, with what the origin of its source said.
    func restricted(by source: SourceFreshness, at now: Int) -> Freshness {
        var freshness = Freshness(source, at: now, isFromCache: false)
        freshness.storability = freshness.storability.stricter(storability)
        return freshness
    }

    /// Lets no cache keep the answer for more than so many seconds from now; if that shortens its lifetime, the age is
    /// dropped.
    mutating func limit(to seconds: Int) {
        guard storability != .none else { return }
        if let remaining, remaining <= seconds { return }
        (lifetime, age, isGuessed) = (seconds, nil, false)
    }

    /// Seconds of freshness that are left; nil if nothing is said about it.
    private var remaining: Int? { lifetime.map { max(0, $0 - (age ?? 0)) } }

    private static func bound(_ remaining: Int?, by bounds: ClientMaxAge) -> Int? {
        guard let remaining else { return bounds.minimum ?? bounds.maximum }
        return min(max(remaining, bounds.minimum ?? remaining), bounds.maximum ?? .max)
    }
}

extension Freshness {
    /// The value of `Cache-Control` of a result that is put elsewhere; nil if nothing is known for certain.
    ///
    /// There it stays as it is, so that a guess would be kept for good.
    var lastingCacheControl: String? {
        if isGuessed || lifetime == nil, storability != .none {
            return storability == .private ? "private" : nil
        }
        return cacheControl()
    }
}

extension SourceFreshness {
    /// Seconds for which a client may use the source at `now`; by this cache's own choice if the origin says nothing.
    fileprivate func clientLifetime(at now: Int) -> Int {
        storability == .unstated ? -age(at: now) : remainingLifetime(at: now)
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

    /// The storability that both allow.
    fileprivate func stricter(_ other: Self) -> Self {
        switch (self, other) {
        case (.none, _), (_, .none): .none
        case (.private, _), (_, .private): .private
        case (.shared, .shared): .shared
        }
    }
}
