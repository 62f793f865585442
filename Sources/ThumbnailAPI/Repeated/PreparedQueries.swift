import Coordination
import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline

/// Caches targets that were parsed and found authentic, so that a hot URL is parsed once.
///
/// Only valid targets are cached; expiry is checked for each request. Used on all event threads.
final class PreparedQueries: Sendable {
    private let queries: Locked<BoundedMap<RequestedTarget, PreparedQuery>>

    /// Creates a cache with these limits.
    init(maximumEntries: Int = 8_192, maximumBytes: Int = 4 << 20) {
        queries = Locked(BoundedMap(maximumCount: maximumEntries, maximumWeight: maximumBytes))
    }

    var count: Int { queries.withLock(\.count) }

    /// Returns the cached query for exactly this target, `Accept` and the client hints that the target uses; otherwise
    /// the result of `prepare`.
    ///
    /// If a query uses hints, an entry without hints records which ones.
    func query(
        for request: HTTPRequest, prepare: (RequestedTarget) throws(APIError) -> PreparedQuery
    ) throws(APIError) -> PreparedQuery {
        var key = RequestedTarget(request)
        guard let known = known(key) else {
            var asked = key
            asked.hints = ClientHints(request.headerFields)
            let made = try prepare(asked)
            insert(made, for: key)
            if !made.hintFields.isEmpty {
                key.hints = asked.hints.only(made.hintFields)
                insert(made, for: key)
            }
            return made
        }
        guard !known.hintFields.isEmpty else { return known }
        key.hints = ClientHints(request.headerFields, reading: known.hintFields)
        if let known = self.known(key) { return known }
        let made = try prepare(key)
        insert(made, for: key)
        return made
    }

    private func known(_ key: RequestedTarget) -> PreparedQuery? { queries.withLock { $0.value(for: key) } }

    private func insert(_ query: PreparedQuery, for key: RequestedTarget) {
        // An estimate: the source, the file name and the response's fields repeat parts of the target.
        let bytes = 4 * key.target.utf8.count + (key.accept?.utf8.count ?? 0) + (key.apiKey?.utf8.count ?? 0) + 1_024
        let removed = queries.withLock { $0.insert(query, for: key, weight: bytes) }
        // Released here, outside the lock.
        _ = removed
    }
}

/// A parsed, authentic target with the values that each of its responses needs.
final class PreparedQuery: Sendable {
    let route: ImageRoute
    let query: ThumbnailQuery
    /// The request in the query, with its source resolved.
    let recurring: RecurringRequest
    /// Unix seconds at which the target expires; nil if it never does.
    let expires: Int?
    /// The value of `Vary` in the responses; nil for none.
    let vary: String?
    let hintFields: HintFields
    let fileName: FileName
    /// Freshness in seconds for clients, regardless of the source; nil for the source's own lifetime.
    let maximumAge: Int?
    /// Seconds for which shared caches may serve the response stale while they revalidate it; nil for no directive.
    let staleAge: Int?
    /// The value of `Cache-Control` if the source allows shared caches to store the response; nil for Alula's own.
    let cacheControl: ExactText?
    /// Whether response fields contain the width and height.
    let tellsSize: Bool
    /// The value of the response's cache tag field; nil for none.
    let cacheTags: String?

    /// Prepares the responses to `query`, parsed at `route`; `request` is its request with the source resolved.
    init(
        _ query: ThumbnailQuery, _ request: RecurringRequest, at route: ImageRoute, cacheTagField: CacheTagField? = nil
    ) {
        cacheTags = cacheTagField?.value(request)
        self.route = route
        self.query = query
        expires = query.expires
        vary = query.vary
        hintFields = query.hintFields
        recurring = request
        fileName = FileName(of: query)
        maximumAge = query.answer.maximumAge
        staleAge = query.answer.staleAge
        cacheControl = query.answer.cacheControl
        tellsSize = query.answer.tellsSize
    }
}
