import Coordination
import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline

/// Caches targets that were parsed and found authentic, so that a hot URL is parsed once.
///
/// Only valid targets are cached; expiry is checked for each request. Two generations limit their number: when the
/// young generation is full, it replaces the old one; a hit in the old generation moves to the young one. Used on all
/// event threads.
final class PreparedQueries: Sendable {
    private struct State {
        var young: [RequestedTarget: PreparedQuery] = [:]
        var old: [RequestedTarget: PreparedQuery] = [:]
        var youngBytes = 0
    }

    private let maximumEntries: Int
    private let maximumBytes: Int
    private let state = Locked(State())

    /// Creates a cache of at most twice `maximumEntries` targets, with at most about twice `maximumBytes`.
    init(maximumEntries: Int = 4_096, maximumBytes: Int = 2 << 20) {
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
    }

    var count: Int { state.withLock { $0.young.count + $0.old.count } }

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

    private func insert(_ entry: PreparedQuery, for key: RequestedTarget) {
        state.withLock { insert(entry, for: key, into: &$0) }
    }

    private func known(_ key: RequestedTarget) -> PreparedQuery? {
        state.withLock { state in
            if let entry = state.young[key] { return entry }
            guard let entry = state.old[key] else { return nil }
            insert(entry, for: key, into: &state)
            return entry
        }
    }

    private func insert(_ entry: PreparedQuery, for key: RequestedTarget, into state: inout State) {
        // An estimate: the source, the file name and the response's fields repeat parts of the target.
        let bytes = 4 * key.target.utf8.count + (key.accept?.utf8.count ?? 0) + (key.apiKey?.utf8.count ?? 0) + 1_024
        if state.young.count >= maximumEntries || state.youngBytes + bytes > maximumBytes {
            state.old = state.young
            state.young = [:]
            state.youngBytes = 0
        }
        if state.young.updateValue(entry, forKey: key) == nil { state.youngBytes += bytes }
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
