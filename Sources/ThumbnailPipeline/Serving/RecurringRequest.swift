import Coordination
package import Downloading
package import ThumbnailTypes

/// A request with resolved sources and its last result, because requests recur.
///
/// To find the result of a request, the URLs of its sources are parsed, only once, and its geometry is planned, again
/// only when one of its sources has changed. Used on all event threads.
package final class RecurringRequest: Sendable {
    package let request: ThumbnailRequest
    /// The identities of its sources, or a ``ServiceError`` if one of them has none.
    package let sources: Result<PerSource<SourceIdentity>, any Error>
    /// The image, if the caller has opened it.
    let opened: OpenedSource?
    private let found = Locked<FoundResult?>(nil)

    package init(
        _ request: ThumbnailRequest, sources: Result<PerSource<SourceIdentity>, any Error>,
        of opened: OpenedSource? = nil
    ) {
        self.request = request
        self.sources = sources
        self.opened = opened
    }

    var last: FoundResult? { found.withLock { $0 } }

    /// Records the key of the request's result while its sources have these records.
    func remember(_ key: ResultKey, for records: PerSource<SourceRecord>) {
        let new = FoundResult(serials: records.mapValues(\.serial), key: key)
        let replaced = found.withLock { found in
            defer { found = new }
            return found
        }
        // Released here, outside the lock.
        _ = replaced
    }
}

/// The records of a request's sources at one time, and the key of its result while they are unchanged.
///
/// An object, because copying the key's parts for each response would cost more than looking it up.
final class FoundResult: Sendable {
    /// The serials of the records: the records themselves would stay in memory beside the cache that counts them.
    let serials: PerSource<UInt64>
    let key: ResultKey

    init(serials: PerSource<UInt64>, key: ResultKey) {
        self.serials = serials
        self.key = key
    }
}
