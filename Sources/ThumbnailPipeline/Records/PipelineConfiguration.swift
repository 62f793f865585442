package import Recipes
package import ThumbnailTypes

package struct PipelineConfiguration: Sendable {
    /// Capacity of the decoded cache in bytes, and its usage after an eviction.
    package var decodedCacheCapacity = 100 << 20
    package var decodedCachePreferred = 60 << 20
    package var decodedCachePolicy = EvictionPolicy.cost
    /// Capacity of the result cache in bytes, and its usage after an eviction.
    package var resultCacheCapacity = 64 << 20
    package var resultCachePreferred = 48 << 20
    package var sourceCacheMemory = 20 << 20
    package var failureMemory = Duration.seconds(5)
    package var rules: RenderingRules = {
        var rules = RenderingRules()
        rules.light = .linear
        return rules
    }()
    package var clientMaxAge = ClientMaxAge()
    /// Orders queued downloads by deadline, and limits the queue wait of work on a fetched source.
    package var requestTimeout: Duration = .seconds(15)
    /// A miss with a longer expected queue wait is rejected before any work starts.
    package var maximumQueueDelay: Duration = .milliseconds(1_500)
    package var decodeTimeout: Duration = .seconds(8)

    package init() {}

    /// Shrinks the caches in memory in proportion if their sum could exceed `maximumBytes`; returns whether it did.
    @discardableResult
    package mutating func fitCaches(within maximumBytes: Int) -> Bool {
        let sum = Double(decodedCacheCapacity) + Double(resultCacheCapacity) + Double(sourceCacheMemory)
        guard sum > Double(maximumBytes) else { return false }
        let ratio = Double(maximumBytes) / sum
        func shrink(_ bytes: inout Int) { bytes = Int(Double(bytes) * ratio) }
        shrink(&decodedCacheCapacity)
        shrink(&decodedCachePreferred)
        shrink(&resultCacheCapacity)
        shrink(&resultCachePreferred)
        shrink(&sourceCacheMemory)
        return true
    }
}

/// The order in which a cache evicts entries.
package enum EvictionPolicy: String, Sendable, CaseIterable {
    /// Evicts the least recently used entries first.
    case lru
    /// Evicts first the values that take the least time per byte to compute again; unused values age.
    case cost
}

/// A cache above its capacity evicts entries down to its preferred usage; both in bytes.
struct CacheBounds: Sendable {
    let capacity: Int
    let preferred: Int
    let policy: EvictionPolicy

    /// - Parameter preferred: Nil means nine tenths of the capacity.
    init(capacity: Int, preferred: Int? = nil, policy: EvictionPolicy = .lru) {
        self.capacity = capacity
        self.preferred = preferred ?? capacity / 10 * 9
        self.policy = policy
        precondition(0...capacity ~= self.preferred, "the preferred usage must lie between 0 and the capacity")
    }
}

/// The operator's bounds on `max-age`, in seconds.
package struct ClientMaxAge: Hashable, Sendable {
    package var minimum: Int?
    package var maximum: Int?
    package var fixed: Int?

    package init() {}
}

extension Request {
    var roles: PerSource<AdditionalSource.Role?> { PerSource(nil, additional: additional.map(\.role)) }
}

extension RenderPlan {
    /// - Throws: ``ImagingError``; for an additional source, wrapped in an ``AdditionalSourceError``.
    package init(
        for request: Request, of headers: PerSource<ImageHeader>, by configuration: PipelineConfiguration
    ) throws {
        var rules = configuration.rules
        rules.limits.longestSteps = configuration.decodeTimeout
        rules.defaultQualityLimit = request.defaultQualityLimit
        if let maximum = request.limits.maximumSourcePixels {
            rules.limits.maximumSourcePixels = min(maximum, rules.limits.maximumSourcePixels)
        }
        if let maximum = request.limits.maximumOutputPixels {
            rules.limits.maximumOutputPixels = min(maximum, rules.limits.maximumOutputPixels)
        }
        let source = RecipeSource(header: headers.main, additions: headers.additional, rules: rules)
        do throws(ImagingError) {
            try self.init(request.recipe, of: source)
        } catch {
            guard case .ofAddition(let number, let underlying) = error else { throw error }
            throw AdditionalSourceError(role: request.additional[number].role, underlying: underlying)
        }
    }
}
