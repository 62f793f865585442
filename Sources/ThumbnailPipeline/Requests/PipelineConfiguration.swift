package import Imaging
package import ThumbnailTypes

/// Bounds and choices of the pipeline; sizes in bytes.
package struct PipelineConfiguration: Sendable {
    /// Decoded pixels: a purge begins above the first and stops at or below the second.
    package var decodedCacheCapacity = 100 << 20
    package var decodedCachePreferred = 60 << 20
    /// Bytes of encoded results: a purge begins above the first and stops at or below the second.
    package var resultCacheCapacity = 64 << 20
    package var resultCachePreferred = 48 << 20
    /// Bytes of encoded sources.
    package var sourceCacheMemory = 20 << 20
    /// How long it is remembered that a source cannot be decoded.
    package var failureMemory = Duration.seconds(5)
    /// The choices that decide pixels, bytes and refusals of all requests.
    package var rules: RenderingRules = {
        var rules = RenderingRules()
        rules.light = .linear
        return rules
    }()
    /// Bounds on how long clients may use an answer.
    package var clientMaxAge = ClientMaxAge()
    /// Time that a whole request has: here it orders waiting downloads, and bounds how long work on a fetched source
    /// may wait.
    package var requestTimeout: Duration = .seconds(15)
    /// How long a miss may wait for a worker thread before any work is done for it.
    package var maximumQueueDelay: Duration = .milliseconds(1_500)
    /// Bound on one decode or render.
    package var decodeTimeout: Duration = .seconds(8)

    /// The defaults of the contract.
    package init() {}

    /// Makes the caches in memory smaller, each in proportion, if together they could take more than `most` bytes.
    ///
    /// - Returns: Whether that was so.
    @discardableResult
    package mutating func fitCaches(within most: Int) -> Bool {
        let sum = Double(decodedCacheCapacity) + Double(resultCacheCapacity) + Double(sourceCacheMemory)
        guard sum > Double(most) else { return false }
        let share = Double(most) / sum
        func shrink(_ bytes: inout Int) { bytes = Int(Double(bytes) * share) }
        shrink(&decodedCacheCapacity)
        shrink(&decodedCachePreferred)
        shrink(&resultCacheCapacity)
        shrink(&resultCachePreferred)
        shrink(&sourceCacheMemory)
        return true
    }
}

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

extension ThumbnailRequest {
    /// The use of each source; nil for the image.
    var roles: PerSource<AdditionalSource.Role?> { PerSource(nil, additional: additional.map(\.role)) }
}

extension RenderPlan {
    /// The plan of a request, given the headers of its sources.
    ///
    /// - Throws: ``ImagingError`` for sources, pages and results that the limits or the output format exclude; that of
    ///   an additional source within an ``AdditionalSourceError``.
    package init(
        for request: ThumbnailRequest, of headers: PerSource<ImageHeader>, by configuration: PipelineConfiguration
    ) throws {
        var rules = configuration.rules
        rules.limits.longestSteps = configuration.decodeTimeout
        rules.defaultQualityLimit = request.defaultQualityLimit
        let source = RecipeSource(header: headers.image, additions: headers.additional, rules: rules)
        do throws(ImagingError) {
            try self.init(request.recipe, of: source)
        } catch {
            guard case .ofAddition(let number, let underlying) = error else { throw error }
            throw AdditionalSourceError(role: request.additional[number].role, underlying: underlying)
        }
    }
}
