import Coordination
import Dialects
import HTTPTypes
import Text
import ThumbnailPipeline
import ThumbnailTypes

/// Remembers parsed targets, so that a hot URL is parsed once.
///
/// Caches only valid targets, for all tenants together; expiry is checked for each request. Used on all event threads.
final class ParsedTargets: Sendable {
    private struct Key: Hashable {
        let tenant: Int
        var target: RequestedTarget
    }

    private let resolved: Locked<BoundedMap<Key, ResolvedRequest>>

    init(maximumEntries: Int = 8_192, maximumBytes: Int = 4 << 20) {
        resolved = Locked(BoundedMap(maximumCount: maximumEntries, maximumWeight: maximumBytes))
    }

    var count: Int { resolved.withLock(\.count) }

    /// Returns the cached request, or parses it.
    ///
    /// The key consists of the target, `Accept` and the client hints that the target uses; an entry without hints
    /// records which ones these are.
    func resolvedRequest(
        for request: HTTPRequest, of tenant: Int = 0, parse: (RequestedTarget) throws(APIError) -> ResolvedRequest
    ) throws(APIError) -> ResolvedRequest {
        var key = Key(tenant: tenant, target: RequestedTarget(request))
        guard let remembered = remembered(key) else {
            var target = key.target
            target.hints = ClientHints(request.headerFields)
            let new = try parse(target)
            insert(new, for: key)
            if !new.request.hintFields.isEmpty {
                key.target.hints = target.hints.only(new.request.hintFields)
                insert(new, for: key)
            }
            return new
        }
        guard !remembered.request.hintFields.isEmpty else { return remembered }
        key.target.hints = ClientHints(request.headerFields, reading: remembered.request.hintFields)
        if let remembered = self.remembered(key) { return remembered }
        let new = try parse(key.target)
        insert(new, for: key)
        return new
    }

    private func remembered(_ key: Key) -> ResolvedRequest? { resolved.withLock { $0.value(for: key) } }

    private func insert(_ new: ResolvedRequest, for key: Key) {
        // An estimate, because the source, the file name and the response's fields repeat parts of the target.
        let target = key.target
        let bytes =
            4 * target.target.utf8.count + (target.accept?.utf8.count ?? 0) + (target.apiKey?.utf8.count ?? 0) + 1_024
        let removed = resolved.withLock { $0.insert(new, for: key, weight: bytes) }
        // Release the removed entries outside the lock.
        _ = removed
    }
}
