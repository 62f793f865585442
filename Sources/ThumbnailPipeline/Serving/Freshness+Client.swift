import Downloading
import ThumbnailTypes

extension Freshness {
    /// Seconds that clients may cache a response rendered from a truncated source.
    static let maximumLifetimeOfIncomplete = 60

    /// Without bounds, passes on the source's lifetime and `Age`.
    ///
    /// A bound that applies replaces both: `max-age` counts from now.
    ///
    /// - Parameter now: Seconds since 1970.
    init(_ source: SourceFreshness, at now: Int, isFromCache: Bool, bounds: ClientMaxAge) {
        self.init(source, at: now, isFromCache: isFromCache)
        bound(by: bounds)
    }

    /// The freshness of the least fresh source; storable only by caches that may store all sources.
    ///
    /// - Parameter isFromCache: Which sources were used without contacting their origins; nil means all.
    init(
        leastOf sources: PerSource<SourceFreshness>, isFromCache: PerSource<Bool>?, at now: Int, bounds: ClientMaxAge
    ) {
        var least = sources.main
        var leastIndex = 0
        var storability = Storability(least.storability)
        for (index, source) in sources.additional.enumerated() {
            storability = storability.stricter(Storability(source.storability))
            guard source.clientLifetime(at: now) < least.clientLifetime(at: now) else { continue }
            least = source
            leastIndex = index + 1
        }
        self.init(least, at: now, isFromCache: isFromCache?[leastIndex] ?? true)
        self.storability = storability
        bound(by: bounds)
    }

    private init(_ source: SourceFreshness, at now: Int, isFromCache: Bool) {
        let age = source.age(at: now)
        self.init(
            storability: Storability(source.storability),
            lifetime: source.storability == .unstated ? 0 : source.isLifetimeKnown ? source.lifetime : nil,
            age: isFromCache || age > 0 ? age : nil)
        isGuessed = source.storability != .unstated && source.isLifetimeGuessed
    }

    private mutating func bound(by bounds: ClientMaxAge) {
        guard storability == .shared, bounds != ClientMaxAge() else { return }
        let remaining = remaining
        let bounded = bounds.fixed ?? Self.bound(remaining, by: bounds)
        guard bounded != remaining else { return }
        lifetime = bounded
        age = nil
        isGuessed = false
    }

    /// Combines the freshness of a result with the freshness that the origin states for its opened source.
    func restricted(by source: SourceFreshness, at now: Int) -> Freshness {
        var freshness = Freshness(source, at: now, isFromCache: false)
        freshness.storability = freshness.storability.stricter(storability)
        return freshness
    }

    /// Limits the remaining lifetime to this many seconds; if that shortens it, the age is dropped.
    mutating func limit(to seconds: Int) {
        guard storability != .none else { return }
        if let remaining, remaining <= seconds { return }
        lifetime = seconds
        age = nil
        isGuessed = false
    }

    private var remaining: Int? { lifetime.map { max(0, $0 - (age ?? 0)) } }

    private static func bound(_ remaining: Int?, by bounds: ClientMaxAge) -> Int? {
        guard let remaining else { return bounds.minimum ?? bounds.maximum }
        return min(max(remaining, bounds.minimum ?? remaining), bounds.maximum ?? .max)
    }
}

extension Freshness {
    /// The `Cache-Control` for a stored object, which never changes; nil if the lifetime is uncertain.
    var lastingCacheControl: String? {
        if isGuessed || lifetime == nil, storability != .none {
            return storability == .private ? "private" : nil
        }
        return cacheControl()
    }
}

extension SourceFreshness {
    fileprivate func clientLifetime(at now: Int) -> Int {
        storability == .unstated ? -age(at: now) : remainingLifetime(at: now)
    }
}

extension Freshness.Storability {
    init(_ storability: SourceStorability) {
        switch storability {
        case .shared, .unstated: self = .shared
        case .private, .perClient: self = .private
        case .none: self = .none
        }
    }

    fileprivate func stricter(_ other: Self) -> Self {
        switch (self, other) {
        case (.none, _), (_, .none): .none
        case (.private, _), (_, .private): .private
        case (.shared, .shared): .shared
        }
    }
}
