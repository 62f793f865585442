import Coordination
import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline

/// Remembers targets that were read and found authentic, so that a hot URL is parsed once.
///
/// Only valid targets are remembered; whether one has expired is judged for each request. Two generations bound their
/// number: when the young generation is full, the old one is dropped and the young one takes its place; an entry that
/// is found in the old one moves to the young one. Used on all event threads.
final class PreparedQueries: Sendable {
    private struct State {
        var young: [RequestedTarget: PreparedQuery] = [:]
        var old: [RequestedTarget: PreparedQuery] = [:]
        var youngBytes = 0
    }

    private let maximumEntries: Int
    private let maximumBytes: Int
    private let state = Locked(State())

    /// Remembers at most twice `maximumEntries` targets, which take at most about twice `maximumBytes`.
    init(maximumEntries: Int = 4_096, maximumBytes: Int = 2 << 20) {
        self.maximumEntries = maximumEntries
        self.maximumBytes = maximumBytes
    }

    /// How many targets are remembered.
    var count: Int { state.withLock { $0.young.count + $0.old.count } }

    /// The query that is remembered for exactly the target and `Accept` of a request, and for those hints in its fields
    /// that the target reads; else the one that `prepare` makes.
    ///
    /// Under a target without hints, a query that read some only tells which they are.
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
        // An estimate: the source, the file name and the answer's fields repeat parts of the target.
        let bytes = 4 * key.target.utf8.count + (key.accept?.utf8.count ?? 0) + (key.apiKey?.utf8.count ?? 0) + 1_024
        if state.young.count >= maximumEntries || state.youngBytes + bytes > maximumBytes {
            state.old = state.young
            state.young = [:]
            state.youngBytes = 0
        }
        if state.young.updateValue(entry, forKey: key) == nil { state.youngBytes += bytes }
    }
}

/// A target that was read and found authentic, with the values that each of its answers needs.
final class PreparedQuery: Sendable {
    /// The route of the target.
    let route: ImageRoute
    /// The query in the target.
    let query: ThumbnailQuery
    /// The request in the query, with its source resolved.
    let recurring: RecurringRequest
    /// Unix seconds at which the target expires; nil if it never does.
    let expires: Int?
    /// The value of `Vary` in the answers; nil for none.
    let vary: String?
    /// The fields with hints that the answer depends on.
    let hintFields: HintFields
    /// The name of the answer's file, without its extension.
    let fileName: FileName
    /// Seconds for which clients may use the answer, whatever the source says; nil for the source's own lifetime.
    let maximumAge: Int?
    /// Seconds for which shared caches may use the answer longer while they fetch it anew; nil says nothing.
    let staleAge: Int?
    /// The value of `Cache-Control` if the source lets shared caches keep the answer; nil for Alula's own.
    let cacheControl: ExactText?
    /// Whether the answer tells its width and height in fields.
    let tellsSize: Bool
    /// The tags of the answer, as its field has them; nil for no such field.
    let cacheTags: String?

    /// Prepares the answers to `query`, which was read at `route`; `request` is its request with the source resolved.
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
