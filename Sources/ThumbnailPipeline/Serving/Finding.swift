import Downloading

/// The result from which a caller's answer is made, the records of its sources, and the layers that answered.
struct Finding {
    let result: RenderedImage
    let records: PerSource<SourceRecord>
    /// Which sources came without asking their origins; nil stands for all of them.
    var isFromCache: PerSource<Bool>?
    let status: [CacheLayerStatus]
    var timings: [StepTiming] = []

    /// A hit of the result cache for which nothing else had to be asked.
    init(hit result: RenderedImage, _ records: PerSource<SourceRecord>) {
        self.result = result
        self.records = records
        status = Self.resultHit
    }

    /// The result of work or of a fetch.
    init(
        result: RenderedImage, _ records: PerSource<SourceRecord>, isFromCache: PerSource<Bool>?,
        status: [CacheLayerStatus], timings: [StepTiming]
    ) {
        self.result = result
        self.records = records
        self.isFromCache = isFromCache
        self.status = status
        self.timings = timings
    }

    private static let resultHit = [CacheLayerStatus(.result, .hit)]

    /// The thumbnail for an answer at `now`, in seconds since 1970.
    ///
    /// - Parameter bounds: The operator's bounds on how long clients may use it.
    func thumbnail(at now: Int, bounds: ClientMaxAge) -> Thumbnail {
        var freshness = freshness(at: now, bounds: bounds)
        if result.isIncomplete { freshness.limit(to: Freshness.longestOfIncomplete) }
        return Thumbnail(
            image: result.image, sourceHeader: records.image.header, isIncomplete: result.isIncomplete,
            eTag: result.eTag,
            lastModified: records.lastModified, freshness: freshness, cacheStatus: status, timings: timings,
            place: status == Self.resultHit ? result.place : nil)
    }

    private func freshness(at now: Int, bounds: ClientMaxAge) -> Freshness {
        guard !records.additional.isEmpty else {
            return Freshness(
                records.image.freshness, at: now, isFromCache: isFromCache?.image ?? true, bounds: bounds)
        }
        let sources = zip(records, isFromCache.map(Array.init) ?? records.map { _ in true }).map {
            (freshness: $0.freshness, isFromCache: $1)
        }
        return Freshness(
            leastOf: PerSource(sources[0], additional: Array(sources.dropFirst())), at: now, bounds: bounds)
    }
}
