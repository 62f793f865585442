import Coordination
import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// A hot URL is parsed once.
///
/// Only valid targets are cached; expiry is checked for each request. Used on all event threads.
final class ParsedTargets: Sendable {
    private let requests: Locked<BoundedMap<RequestedTarget, ResolvedRequest>>

    init(maximumEntries: Int = 8_192, maximumBytes: Int = 4 << 20) {
        requests = Locked(BoundedMap(maximumCount: maximumEntries, maximumWeight: maximumBytes))
    }

    var count: Int { requests.withLock(\.count) }

    /// Keyed by target, `Accept` and the client hints that the target uses; if it uses hints, an entry without
    /// hints records which ones.
    func request(
        for request: HTTPRequest, parse: (RequestedTarget) throws(APIError) -> ResolvedRequest
    ) throws(APIError) -> ResolvedRequest {
        var key = RequestedTarget(request)
        guard let remembered = remembered(key) else {
            var target = key
            target.hints = ClientHints(request.headerFields)
            let new = try parse(target)
            insert(new, for: key)
            if !new.request.hintFields.isEmpty {
                key.hints = target.hints.only(new.request.hintFields)
                insert(new, for: key)
            }
            return new
        }
        guard !remembered.request.hintFields.isEmpty else { return remembered }
        key.hints = ClientHints(request.headerFields, reading: remembered.request.hintFields)
        if let remembered = self.remembered(key) { return remembered }
        let new = try parse(key)
        insert(new, for: key)
        return new
    }

    private func remembered(_ key: RequestedTarget) -> ResolvedRequest? { requests.withLock { $0.value(for: key) } }

    private func insert(_ request: ResolvedRequest, for key: RequestedTarget) {
        // An estimate: the source, the file name and the response's fields repeat parts of the target.
        let bytes = 4 * key.target.utf8.count + (key.accept?.utf8.count ?? 0) + (key.apiKey?.utf8.count ?? 0) + 1_024
        let removed = requests.withLock { $0.insert(request, for: key, weight: bytes) }
        // Released here, outside the lock.
        _ = removed
    }
}
