package import HTTPTypes
package import Imaging

/// A finished thumbnail with what an answer has to say about it.
package struct Thumbnail: Sendable {
    package let image: EncodedImage
    /// The header of the image's source; nil in tests of the answer alone.
    package let sourceHeader: ImageHeader?
    /// Whether a source lacked pixels, which are gray then, or coarse.
    package let isIncomplete: Bool
    /// Strong entity tag of the image's bytes, with its quotes.
    package let eTag: String
    /// When the latest of the sources was changed; nil if one of them does not say.
    package let lastModified: HTTPDate?
    /// How long the answer may be stored, and in which caches.
    package let freshness: Freshness
    /// One member per cache layer that was asked, in the order of the contract.
    package let cacheStatus: [CacheLayerStatus]
    /// How long the steps took, for `Server-Timing`.
    package let timings: [StepTiming]
    /// Where the cached result keeps what answers have in common; nil if it came from no cache.
    package let place: AnswerPlace?

    /// The use that was made of the source's gain map; nil if it has none.
    package var gainMap: GainMapUse? {
        image.hasGainMap ? .keep : sourceHeader?.colors.highRange == .gainMap ? .drop : nil
    }

    /// A thumbnail ready to be answered.
    package init(
        image: EncodedImage, sourceHeader: ImageHeader? = nil, isIncomplete: Bool = false, eTag: String,
        lastModified: HTTPDate?, freshness: Freshness,
        cacheStatus: [CacheLayerStatus], timings: [StepTiming], place: AnswerPlace? = nil
    ) {
        self.place = place
        self.image = image
        self.sourceHeader = sourceHeader
        self.isIncomplete = isIncomplete
        self.eTag = eTag
        self.lastModified = lastModified
        self.freshness = freshness
        self.cacheStatus = cacheStatus
        self.timings = timings
    }
}

extension Thumbnail {
    /// The `Cache-Status` of a hit of the result cache for which nothing else had to be asked.
    static let hit = [CacheLayerStatus(.result, .hit)]

    /// A result as the answer to one caller at `now`, in seconds since 1970.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - records: Its sources.
    ///   - isFromCache: Which of them came without asking their origins; nil stands for all of them.
    ///   - status: The layers that answered.
    ///   - timings: How long the steps took.
    ///   - now: The time of the answer.
    ///   - bounds: The operator's bounds on how long clients may use it.
    init(
        _ result: RenderedImage, of records: PerSource<SourceRecord>, isFromCache: PerSource<Bool>? = nil,
        status: [CacheLayerStatus] = hit, timings: [StepTiming] = [], at now: Int, bounds: ClientMaxAge
    ) {
        var freshness =
            records.additional.isEmpty
            ? Freshness(
                records.image.freshness, at: now, isFromCache: isFromCache?.image ?? true, bounds: bounds)
            : Freshness(
                leastOf: records.mapValues { $0.freshness }, isFromCache: isFromCache, at: now, bounds: bounds)
        if result.isIncomplete { freshness.limit(to: Freshness.longestOfIncomplete) }
        self.init(
            image: result.image, sourceHeader: records.image.header, isIncomplete: result.isIncomplete,
            eTag: result.eTag, lastModified: records.lastModified, freshness: freshness, cacheStatus: status,
            timings: timings, place: status == Self.hit ? result.place : nil)
    }
}

/// The values behind an answer's `Cache-Control` and `Age`.
package struct Freshness: Hashable, Sendable {
    /// The permission of the source to store an answer.
    package enum Storability: Hashable, Sendable {
        /// Anyone may store it.
        case shared
        /// `Cache-Control: private`
        case `private`
        /// `Cache-Control: no-store`
        case none
    }

    /// Who may store the answer.
    package var storability: Storability
    /// Seconds for which the answer is fresh from its own birth (RFC 9111 section 4.2.1); nil if nothing is said about
    /// it.
    package var lifetime: Int?
    /// Seconds since the origin made or confirmed the source (RFC 9111 section 4.2.3); nil if it came from no cache.
    package var age: Int?
    /// Whether the lifetime is a guess, which holds only while it can be corrected.
    var isGuessed = false

    /// The freshness of an answer.
    package init(storability: Storability = .shared, lifetime: Int? = nil, age: Int? = nil) {
        self.storability = storability
        self.lifetime = lifetime
        self.age = age
    }
}

extension Freshness {
    /// The value of `Cache-Control` (RFC 9111 section 5.2.2).
    ///
    /// If a source says nothing about its lifetime, the answer says `public` alone: a cache in front then applies its
    /// own default lifetime, as it would for the source itself. `no-cache` would have every view revalidated, and an
    /// invented `max-age` would make the thumbnail fresher than its source. Only if the target expires does the answer
    /// say `no-cache`, because a heuristic lifetime (section 4.2.2) could reach past the target's end.
    ///
    /// - Parameters:
    ///   - secondsLeft: Seconds until the target expires, which `max-age` does not exceed, even if `Age` would allow
    ///     more; nil if it never expires.
    ///   - staleAge: Seconds of `stale-while-revalidate` (RFC 5861 section 3), for targets that never expire; nil for
    ///     none.
    package func cacheControl(secondsLeft: Int? = nil, staleAge: Int? = nil) -> String {
        let prefix: String
        switch storability {
        case .none: return "no-store"
        case .private: prefix = "private"
        case .shared: prefix = "public"
        }
        guard let lifetime else { return secondsLeft == nil ? prefix : "\(prefix), no-cache" }
        let text = "\(prefix), max-age=\(max(0, min(lifetime, secondsLeft ?? lifetime)))"
        guard let staleAge, secondsLeft == nil, storability == .shared else { return text }
        return text + ", stale-while-revalidate=\(staleAge)"
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

/// One layer's member of `Cache-Status` (RFC 9211).
package struct CacheLayerStatus: Hashable, Sendable {
    /// A cache of the service.
    package enum Layer: String, Sendable, Hashable {
        case result = "alula-result"
        case shared = "alula-shared"
        case store = "alula-store"
        case decoded = "alula-decoded"
        case source = "alula-source"
    }

    /// The layer's result (RFC 9211 sections 2.1 and 2.2).
    package enum Outcome: String, Sendable, Hashable {
        case hit = "hit"
        case uriMiss = "fwd=uri-miss"
        case varyMiss = "fwd=vary-miss"
        case stale = "fwd=stale"
        case request = "fwd=request"
    }

    /// The cache.
    package var layer: Layer
    /// Hit, or why it went further.
    package var outcome: Outcome
    /// The request joined another's work.
    package var isCollapsed: Bool
    /// The request filled this layer.
    package var isStored: Bool
    /// The status that the next layer outward answered, if that is not simply its success.
    package var forwardStatus: Int?
    /// Seconds until the source is stale; given if it is negative, that is stale already.
    package var timeToLive: Int?

    /// A member for `layer`.
    package init(
        _ layer: Layer, _ outcome: Outcome, isCollapsed: Bool = false, isStored: Bool = false,
        forwardStatus: Int? = nil, timeToLive: Int? = nil
    ) {
        self.layer = layer
        self.outcome = outcome
        self.isCollapsed = isCollapsed
        self.isStored = isStored
        self.forwardStatus = forwardStatus
        self.timeToLive = timeToLive
    }
}

/// How long one step took.
package struct StepTiming: Hashable, Sendable {
    /// The metric name: a token.
    package let name: String
    /// The time it took.
    package let duration: Duration

    /// A step of this name, a token.
    package init(_ name: String, _ duration: Duration) {
        self.name = name
        self.duration = duration
    }
}
